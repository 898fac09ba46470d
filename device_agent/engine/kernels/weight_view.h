// SPDX-License-Identifier: GPL-3.0-or-later
// A weight matrix as it stands in a model file. A new type is an enumerator here, its size below
// and its unpacking in unpack-inl.h; the kernels themselves know no type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardscope::engine::kernels {

enum class WeightType : std::uint8_t { F32, F16 };

/// Bytes of `count` consecutive elements.
constexpr std::size_t weightBytes(WeightType type, std::size_t count) {
    return type == WeightType::F32 ? count * 4 : count * 2;
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
