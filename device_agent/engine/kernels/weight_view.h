// SPDX-License-Identifier: GPL-3.0-or-later
// A weight matrix as it stands in a model file. A new type is an enumerator here, its size below
// and its unpacking in unpack-inl.h; the kernels themselves know no type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardscope::engine::kernels {

/// The quantised types are ggml's: blocks of 32 elements of a row, each block with its own scale
/// (and least value, in the _1 types) as float16, then fifth bits, then nibbles or bytes.
enum class WeightType : std::uint8_t { F32, F16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 };

/// Elements that share a storage block: rows of weights are whole blocks.
constexpr std::size_t weightBlock(WeightType type) {
    return type == WeightType::F32 || type == WeightType::F16 ? 1 : 32;
}

/// Bytes of a storage block.
constexpr std::size_t weightBlockBytes(WeightType type) {
    constexpr std::uint8_t kBytes[] = {4, 2, 34, 18, 20, 22, 24};
    return kBytes[static_cast<std::size_t>(type)];
}

/// Bytes of `count` consecutive elements, whole blocks.
constexpr std::size_t weightBytes(WeightType type, std::size_t count) {
    return count / weightBlock(type) * weightBlockBytes(type);
}

/// A [rows, cols] row-major matrix, little-endian, at any byte address; it is not owned.
struct WeightView {
    const std::byte* data = nullptr;
    WeightType type = WeightType::F32;
    std::size_t rows = 0;
    std::size_t cols = 0;

    std::size_t rowBytes() const { return weightBytes(type, cols); }
    const std::byte* row(std::size_t r) const { return data + r * rowBytes(); }

    /// Rows [first, first + count): a head's share of a projection, a shard of a vocabulary.
    WeightView slice(std::size_t first, std::size_t count) const {
        return {row(first), type, count, cols};
    }
};

} // namespace shardscope::engine::kernels
