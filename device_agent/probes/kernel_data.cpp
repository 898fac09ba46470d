// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/kernel_data.h"

#include <algorithm>
#include <cstring>

namespace shardscope::probes {

std::vector<float> floats(std::size_t count) {
    std::vector<float> v(count);
    std::uint32_t state = 1;
    for (float& x : v) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
    return v;
}

std::vector<std::byte> weightBytes(std::size_t bytes) {
    std::vector<std::byte> all((bytes + 1) / 2 * 2);
    for (std::size_t i = 0; i < all.size() / 2; ++i) {
        const auto bits = static_cast<std::uint16_t>(0x1400u | (i * 2654435761u >> 20 & 1023u));
        std::memcpy(&all[i * 2], &bits, sizeof bits);
    }
    return all;
}

Matrices::Matrices(
    const std::vector<std::byte>& buffer, WeightType type, std::size_t rows, std::size_t cols)
    : m_begin(buffer.data()), m_type(type), m_rows(rows), m_cols(cols),
      m_each(engine::kernels::weightBytes(type, rows * cols)),
      m_count(std::max<std::size_t>(buffer.size() / m_each, 1)) {}

} // namespace shardscope::probes
