// SPDX-License-Identifier: GPL-3.0-or-later
// float16 by its bits, for where no processor instruction is at hand.
#pragma once

#include <bit>
#include <cstdint>

namespace shardscope::base {

/// The nearest float16, ties to even; infinity beyond its range.
inline std::uint16_t halfFromFloat(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return static_cast<std::uint16_t>(sign | 0x7E00u); // NaN
    if (magnitude >= 0x477FF000u)
        return static_cast<std::uint16_t>(sign | 0x7C00u);
    if (magnitude < 0x38800000u) { // subnormal: the sum's own rounding does it
        const float value = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(
            sign | (std::bit_cast<std::uint32_t>(value) - 0x3F000000u));
    }
    const std::uint32_t odd = magnitude >> 13 & 1u;
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
}

inline float floatFromHalf(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7FFFu;
    std::uint32_t bits = 0;
    if (magnitude >= 0x7C00u) // infinity and NaN
        bits = magnitude << 13 | 0x7F800000u;
    else if (magnitude >= 0x0400u)
        bits = (magnitude << 13) + 0x38000000u;
    else // subnormal: units of 2^-24
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
    return std::bit_cast<float>(sign | bits);
}

} // namespace shardscope::base
