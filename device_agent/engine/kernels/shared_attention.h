// SPDX-License-Identifier: GPL-3.0-or-later
// Cross-attention that keeps only the encoder output, once for all layers (`cross_kv: shared`).
//
// The projections of a layer are absorbed into the query and the result, which is the same sum in
// another order: u_h = W_k,h^T q_h, score_i = scale u_h . enc_i, c_h = sum_i p_i enc_i,
// out_h = W_v,h c_h + b_v,h. Whisper's key projection has no bias.
#pragma once

#include <cstddef>
#include <span>

#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/kernels/weight_view.h"

namespace shardscope::engine::kernels {

struct SharedAttention {
    const float* encoded = nullptr; ///< [positions, width] float32
    std::size_t positions = 0;
    std::size_t heads = 0;
    WeightView keyWeights;                ///< [width, width]; width is a multiple of 8
    WeightView valueWeights;              ///< [width, width]
    const std::byte* valueBias = nullptr; ///< width float32 at any address, or none
    float scale = 1.0f;                   ///< 1/sqrt(headDim) for Whisper
};

/// Scratch that sharedAttention() needs; the same for every number of threads.
constexpr std::size_t
sharedAttentionScratchBytes(std::size_t positions, std::size_t width, std::size_t heads) {
    const std::size_t padded = (positions + 63) / 64 * 64;
    return heads * (2 * width + padded) * sizeof(float) + 256;
}

/// out = attention of the query row q (width floats, heads * headDim) to all positions; out may be
/// q.
void sharedAttention(
    ThreadPool& pool, const SharedAttention& attention, const float* q, float* out,
    std::span<std::byte> scratch);

} // namespace shardscope::engine::kernels
