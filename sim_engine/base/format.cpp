// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/base/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace shardscope::base {
namespace {

struct Suffix {
    std::string_view text;
    double factor;
};

constexpr std::array<Suffix, 14> kSuffixes{{
    {"", 1},
    {"B", 1},
    {"k", 1e3},
    {"K", 1e3},
    {"kB", 1e3},
    {"KB", 1e3},
    {"M", 1e6},
    {"MB", 1e6},
    {"G", 1e9},
    {"GB", 1e9},
    {"KiB", 1024.0},
    {"kiB", 1024.0},
    {"MiB", 1048576.0},
    {"GiB", 1073741824.0},
}};

} // namespace

std::string formatted(const char* format, ...) {
    std::va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    std::string text(n > 0 ? static_cast<std::size_t>(n) : 0, '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    return text;
}

std::string bytesText(Bytes n) {
    const double v = n.real(), a = std::abs(v);
    if (a < 1024)
        return formatted("%.0f B", v);
    if (a < 1024.0 * 1024)
        return formatted("%.1f KiB", v / 1024);
    if (a < 1024.0 * 1024 * 1024)
        return formatted("%.1f MiB", v / (1024.0 * 1024));
    return formatted("%.2f GiB", v / (1024.0 * 1024 * 1024));
}

std::string timeText(Nanos t) {
    const double v = t.real(), a = std::abs(v);
    if (a < 1e3)
        return formatted("%.0f ns", v);
    if (a < 1e6)
        return formatted("%.1f us", v * 1e-3);
    if (a < 1e9)
        return formatted(a < 1e7 ? "%.2f ms" : "%.1f ms", v * 1e-6);
    return formatted("%.2f s", v * 1e-9);
}

std::string rateText(double bytesPerSecond) {
    const double a = std::abs(bytesPerSecond);
    if (a < 1e6)
        return formatted("%.1f kB/s", bytesPerSecond * 1e-3);
    if (a < 1e9)
        return formatted("%.1f MB/s", bytesPerSecond * 1e-6);
    return formatted("%.2f GB/s", bytesPerSecond * 1e-9);
}

std::optional<Bytes> parseBytes(std::string_view text) {
    if (text.ends_with("/s"))
        text.remove_suffix(2);
    double amount = 0;
    const auto [end, error] = std::from_chars(
        text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(amount) || amount < 0)
        return std::nullopt;
    const auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const Suffix& s : kSuffixes) {
        if (rest != s.text)
            continue;
        const double bytes = std::floor(amount * s.factor + 0.5);
        if (bytes > 4.0e18)
            return std::nullopt;
        return Bytes(static_cast<std::int64_t>(bytes));
    }
    return std::nullopt;
}

std::optional<std::int64_t> parseInteger(std::string_view text) {
    std::int64_t n = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, n);
    if (text.empty() || error != std::errc{} || end != last)
        return std::nullopt;
    return n;
}

std::optional<double> parseReal(std::string_view text) {
    double x = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, x, std::chars_format::fixed);
    if (text.empty() || error != std::errc{} || end != last || !std::isfinite(x))
        return std::nullopt;
    return x;
}

} // namespace shardscope::base
