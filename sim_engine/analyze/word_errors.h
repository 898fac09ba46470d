// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace shardscope::analyze {

/// Edits that turn a transcript into its reference, and the length of the reference.
struct EditCount {
    std::int64_t edits = 0;
    std::int64_t length = 0;

    EditCount& operator+=(const EditCount& o) {
        return edits += o.edits, length += o.length, *this;
    }
    /// Error rate; of an empty reference 0 when nothing was heard, else 1.
    double rate() const {
        return length > 0 ? static_cast<double>(edits) / static_cast<double>(length)
                          : (edits > 0 ? 1.0 : 0.0);
    }
};

/// Substituted, deleted and inserted words (Levenshtein). Case and punctuation other than the
/// apostrophe do not count.
EditCount wordErrors(std::string_view reference, std::string_view heard);

/// The same for characters of the texts so cleaned, with single spaces between words.
EditCount characterErrors(std::string_view reference, std::string_view heard);

} // namespace shardscope::analyze
