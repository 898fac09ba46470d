// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/word_errors.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace shardscope::analyze {
namespace {

/// Lower-case words without punctuation. Bytes beyond ASCII are parts of letters.
std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> list(1);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80 || std::isalnum(byte) || c == '\'')
            list.back() += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
        else if (!list.back().empty())
            list.emplace_back();
    }
    if (list.back().empty())
        list.pop_back();
    return list;
}

template <typename Sequence>
EditCount edits(const Sequence& reference, const Sequence& heard) {
    std::vector<std::int64_t> row(heard.size() + 1);
    std::iota(row.begin(), row.end(), std::int64_t{0});
    for (std::size_t i = 1; i <= reference.size(); ++i) {
        std::int64_t diagonal = std::exchange(row[0], static_cast<std::int64_t>(i));
        for (std::size_t j = 1; j <= heard.size(); ++j) {
            const std::int64_t changed = diagonal + (reference[i - 1] != heard[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return {row.back(), static_cast<std::int64_t>(reference.size())};
}

std::string joined(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& word : list)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

} // namespace

EditCount wordErrors(std::string_view reference, std::string_view heard) {
    return edits(words(reference), words(heard));
}

EditCount characterErrors(std::string_view reference, std::string_view heard) {
    return edits(joined(words(reference)), joined(words(heard)));
}

} // namespace shardscope::analyze
