// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/result.h"

namespace shardscope::base {

/// A flag that a command takes.
struct Flag {
    std::string_view name;  ///< "--model"
    std::string_view value; ///< "FILE" for help; empty for a switch
    std::string_view help;
};

/// The words of a command line, told apart: `--name value`, `--name=value`, switches, and the rest.
/// Small on purpose: the static agent cannot afford a library that brings <iostream>.
class Args {
public:
    /// Usage error for an unknown flag (naming the nearest known one), a flag without its value, a
    /// switch with one, and a flag that stands twice.
    static Result<Args> parse(std::span<const std::string> words, std::span<const Flag> flags);

    bool has(std::string_view flag) const { return value(flag).has_value(); }
    /// The value of a flag that was given; empty text for a switch.
    std::optional<std::string> value(std::string_view flag) const;
    std::string valueOr(std::string_view flag, std::string_view otherwise) const;
    /// The value, or a Usage error that names the flag.
    Result<std::string> required(std::string_view flag) const;
    /// A number from 1 to `most`; Usage error that names the flag where it is none.
    Result<std::int32_t>
    count(std::string_view flag, std::int32_t otherwise, std::int32_t most) const;
    const std::vector<std::string>& rest() const { return m_rest; }
    /// Usage error that names the first word beside the flags, where there is one.
    Status noRest() const;

private:
    std::vector<std::pair<std::string, std::string>> m_values;
    std::vector<std::string> m_rest;
};

/// The lines of a help text for these flags, aligned.
std::string flagHelp(std::span<const Flag> flags);

} // namespace shardscope::base
