// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/quantize/quantize_row.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "sim_engine/base/bytes.h"
#include "sim_engine/base/half.h"

namespace shardscope::engine {
namespace {

using base::halfFromFloat;
using base::storeAs;
using model::DType;

constexpr std::size_t kBlock = 32;

float inverse(float scale) {
    return scale != 0.0f ? 1.0f / scale : 0.0f;
}

/// Cut off towards zero and kept within [0, most]; NaN becomes most.
std::uint32_t cut(float v, std::uint32_t most) {
    if (v <= 0.0f)
        return 0;
    return v < static_cast<float>(most) ? static_cast<std::uint32_t>(v) : most;
}

void bytesBlock(const float* x, std::byte* out) {
    float most = 0.0f;
    for (std::size_t i = 0; i < kBlock; ++i)
        most = std::max(most, std::fabs(x[i]));
    const float scale = most / 127.0f;
    const float factor = inverse(scale);
    storeAs(out, halfFromFloat(scale));
    for (std::size_t i = 0; i < kBlock; ++i) {
        const float v = std::round(x[i] * factor); // halves away from zero
        const float kept = v >= -127.0f ? std::min(v, 127.0f) : -127.0f;
        storeAs(out + 2 + i, static_cast<std::int8_t>(kept));
    }
}

/// Nibbles, low for the first half of the block, and above them the fifth bits.
void storeNumbers(const std::uint32_t* numbers, bool hasFifths, std::byte* out) {
    if (hasFifths) {
        std::uint32_t fifths = 0;
        for (std::size_t i = 0; i < kBlock; ++i)
            fifths |= (numbers[i] >> 4 & 1u) << i;
        storeAs(out, fifths);
        out += sizeof fifths;
    }
    for (std::size_t i = 0; i < kBlock / 2; ++i)
        out[i] = static_cast<std::byte>((numbers[i] & 15u) | (numbers[i + kBlock / 2] & 15u) << 4);
}

/// Numbers around zero: the element farthest from it (the first of equals) gets the lowest number.
void centredBlock(int bits, const float* x, std::byte* out) {
    float most = 0.0f, farthest = 0.0f;
    for (std::size_t i = 0; i < kBlock; ++i)
        if (most < std::fabs(x[i])) {
            most = std::fabs(x[i]);
            farthest = x[i];
        }
    const int half = 1 << (bits - 1);
    const float scale = farthest / static_cast<float>(-half);
    const float factor = inverse(scale);
    storeAs(out, halfFromFloat(scale));
    std::uint32_t numbers[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i)
        numbers[i] =
            cut(x[i] * factor + (static_cast<float>(half) + 0.5f),
                static_cast<std::uint32_t>(2 * half - 1));
    storeNumbers(numbers, bits == 5, out + 2);
}

/// Numbers between the least and the greatest element.
void rangeBlock(int bits, const float* x, std::byte* out) {
    float least = std::numeric_limits<float>::max(), most = -least;
    for (std::size_t i = 0; i < kBlock; ++i) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    const std::uint32_t last = (1u << bits) - 1;
    const float scale = (most - least) / static_cast<float>(last);
    const float factor = inverse(scale);
    storeAs(out, halfFromFloat(scale));
    storeAs(out + 2, halfFromFloat(least));
    std::uint32_t numbers[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i)
        numbers[i] = cut((x[i] - least) * factor + 0.5f, last);
    storeNumbers(numbers, bits == 5, out + 4);
}

void quantizeBlock(DType type, const float* x, std::byte* out) {
    switch (type) {
    case DType::Q8_0:
        return bytesBlock(x, out);
    case DType::Q4_0:
        return centredBlock(4, x, out);
    case DType::Q5_0:
        return centredBlock(5, x, out);
    case DType::Q4_1:
        return rangeBlock(4, x, out);
    case DType::Q5_1:
        return rangeBlock(5, x, out);
    case DType::F32:
    case DType::F16:
        break;
    }
    std::abort(); // a bug: no type of blocks
}

} // namespace

void quantizeRow(DType type, const float* x, std::size_t count, std::byte* out) {
    const auto bytes = static_cast<std::size_t>(model::blockBytes(type));
    for (std::size_t i = 0; i < count; i += kBlock, out += bytes)
        quantizeBlock(type, x + i, out);
}

} // namespace shardscope::engine
