// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace shardscope::engine::kernels {

/// What happens to an [M, N] product before it is stored, in this order:
/// v = product; v += bias[n]; v = gelu(v); v = addend[m, n] + v.
struct Epilogue {
    const std::byte* bias = nullptr;   ///< N float32 at any address, or none
    bool gelu = false;                 ///< tanh form, as ggml has it
    const std::byte* addend = nullptr; ///< [M, N] float32 at any address: the output itself
                                       ///< (residual), or a positional embedding
    std::size_t addendStride = 0;      ///< bytes from row to row of the addend
};

/// The epilogue of a residual branch: y = y + (product + bias); `ldy` in floats.
inline Epilogue residualEpilogue(const std::byte* bias, const float* y, std::size_t ldy) {
    return {bias, false, reinterpret_cast<const std::byte*>(y), ldy * sizeof(float)};
}

} // namespace shardscope::engine::kernels
