// SPDX-License-Identifier: GPL-3.0-or-later
// Operands for measuring kernels: numbers that no processor slows down for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_agent/engine/kernels/weight_view.h"

namespace shardscope::probes {

/// Numbers within +-0.5.
std::vector<float> floats(std::size_t count);

/// Bytes that are usual weights whatever type they are read as: pairs of bytes are halves of about
/// 0.001, which are neither subnormal nor large, as scales of the block formats too.
std::vector<std::byte> weightBytes(std::size_t bytes);

/// Equal matrices one after the other in one buffer, as the layers of a model stand in memory.
class Matrices {
public:
    using WeightType = engine::kernels::WeightType;

    /// As many [rows, cols] matrices as the buffer holds, at least one. The buffer outlives this.
    Matrices(
        const std::vector<std::byte>& buffer, WeightType type, std::size_t rows, std::size_t cols);

    std::size_t count() const { return m_count; }
    std::size_t bytes() const { return m_count * m_each; }
    engine::kernels::WeightView at(std::size_t i) const {
        return {m_begin + i * m_each, m_type, m_rows, m_cols};
    }

private:
    const std::byte* m_begin;
    WeightType m_type;
    std::size_t m_rows, m_cols, m_each, m_count;
};

} // namespace shardscope::probes
