// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/base/args.h"

#include <algorithm>
#include <numeric>

#include "sim_engine/base/format.h"

namespace shardscope::base {
namespace {

/// Edit distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row.back();
}

Error unknownFlag(std::string_view name, std::span<const Flag> flags) {
    const auto nearest = std::min_element(flags.begin(), flags.end(), [&](auto& a, auto& b) {
        return distance(a.name, name) < distance(b.name, name);
    });
    std::string mend = "see --help";
    if (nearest != flags.end() && distance(nearest->name, name) <= 3)
        mend = "did you mean " + std::string(nearest->name) + "?";
    return {ErrorCode::Usage, "there is no such flag", std::string(name), mend};
}

} // namespace

Result<Args> Args::parse(std::span<const std::string> words, std::span<const Flag> flags) {
    Args args;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with("--") || word.size() == 2) {
            args.m_rest.push_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const auto flag =
            std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
        if (flag == flags.end())
            return unknownFlag(name, flags);
        if (args.has(name))
            return Error{ErrorCode::Usage, "the flag stands twice", name, "give it once"};
        if (flag->value.empty()) {
            if (equals != std::string::npos)
                return Error{ErrorCode::Usage, "the flag takes no value", name, "leave it out"};
            args.m_values.emplace_back(name, "");
        } else if (equals != std::string::npos) {
            args.m_values.emplace_back(name, word.substr(equals + 1));
        } else if (i + 1 < words.size()) {
            args.m_values.emplace_back(name, words[++i]);
        } else {
            return Error{
                ErrorCode::Usage, "a value is missing", name, "give " + std::string(flag->value)};
        }
    }
    return args;
}

std::optional<std::string> Args::value(std::string_view flag) const {
    for (const auto& [name, value] : m_values)
        if (name == flag)
            return value;
    return std::nullopt;
}

std::string Args::valueOr(std::string_view flag, std::string_view otherwise) const {
    return value(flag).value_or(std::string(otherwise));
}

Result<std::string> Args::required(std::string_view flag) const {
    if (auto found = value(flag))
        return *found;
    return Error{ErrorCode::Usage, "this flag is needed", std::string(flag), "see --help"};
}

Result<std::int32_t>
Args::count(std::string_view flag, std::int32_t otherwise, std::int32_t most) const {
    const auto text = value(flag);
    if (!text)
        return otherwise;
    const auto number = parseInteger(*text);
    if (!number || *number < 1 || *number > most)
        return Error{
            ErrorCode::Usage, "\"" + text->substr(0, 60) + "\" is not possible", std::string(flag),
            formatted("give 1 to %d", most)};
    return static_cast<std::int32_t>(*number);
}

Status Args::noRest() const {
    if (m_rest.empty())
        return {};
    return Error{ErrorCode::Usage, "a word too many", m_rest.front(), "see --help"};
}

std::string flagHelp(std::span<const Flag> flags) {
    std::size_t width = 0;
    for (const Flag& f : flags)
        width = std::max(width, f.name.size() + 1 + f.value.size());
    std::string text;
    for (const Flag& f : flags) {
        std::string head = std::string(f.name) + " " + std::string(f.value);
        head.resize(width, ' ');
        text += "  " + head + "  " + std::string(f.help) + "\n";
    }
    return text;
}

} // namespace shardscope::base
