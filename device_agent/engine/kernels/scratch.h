// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace shardscope::engine::kernels {

/// Hands out 64-byte aligned float arrays from the caller's scratch. Running out is a bug of the
/// size function beside the kernel.
class ScratchFloats {
public:
    explicit ScratchFloats(std::span<std::byte> scratch)
        : m_next(scratch.data()), m_end(scratch.data() + scratch.size()) {
        const auto misfit = reinterpret_cast<std::uintptr_t>(m_next) % 64;
        if (misfit != 0)
            m_next += 64 - misfit;
    }

    float* take(std::size_t count) {
        const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
        if (m_next > m_end || bytes > static_cast<std::size_t>(m_end - m_next))
            std::abort();
        auto* const floats = reinterpret_cast<float*>(m_next);
        m_next += bytes;
        return floats;
    }

private:
    std::byte* m_next;
    std::byte* m_end;
};

} // namespace shardscope::engine::kernels
