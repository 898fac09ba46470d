// SPDX-License-Identifier: GPL-3.0-or-later
// The one place where bytes, times and rates become text, and where such text is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim_engine/base/units.h"

namespace shardscope::base {

/// printf into a string; the format is checked by the compiler.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// "831 B", "4.7 KiB", "90.0 MiB", "1.25 GiB".
std::string bytesText(Bytes n);

/// "850 ns", "12.4 us", "3.21 ms", "1.50 s".
std::string timeText(Nanos t);

/// "48.0 MB/s" (decimal, as storage makers count).
std::string rateText(double bytesPerSecond);

/// Reads "4096", "90MiB", "90MB", "1.5GiB", "64k", with an optional "/s"; none for anything else,
/// for a negative amount and for one that no 62-bit integer holds.
std::optional<Bytes> parseBytes(std::string_view text);

/// Reads a whole decimal integer and nothing else.
std::optional<std::int64_t> parseInteger(std::string_view text);

/// Reads a whole decimal fraction ("0.5") and nothing else; never NaN or infinite.
std::optional<double> parseReal(std::string_view text);

} // namespace shardscope::base
