// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of every position to every position, no mask: out = softmax(scale Q K^T) V.
//
// Heads follow one another; within a head the threads take tiles of query rows. A tile keeps its
// scores for all keys, so the softmax is exact and runs over the real positions alone.
#pragma once

#include <cstddef>
#include <span>

#include "device_agent/engine/kernels/thread_pool.h"

namespace shardscope::engine::kernels {

/// Q, K, V and out are [positions, heads * headDim] float32 with their own row distance in floats.
/// `out` may be q, k or v. headDim is a multiple of 8.
struct EncoderAttention {
    const float* q = nullptr;
    std::size_t ldq = 0;
    const float* k = nullptr;
    std::size_t ldk = 0;
    const float* v = nullptr;
    std::size_t ldv = 0;
    float* out = nullptr;
    std::size_t ldo = 0;
    std::size_t positions = 0;
    std::size_t heads = 0;
    std::size_t headDim = 0;
    float scale = 1.0f; ///< 1/sqrt(headDim) for Whisper
};

/// Query rows of a tile.
inline constexpr std::size_t kAttentionTile = 32;

/// Scratch that encoderAttention() needs: one packed head, and a score tile for each thread; the
/// same on every CPU.
constexpr std::size_t
encoderAttentionScratchBytes(std::size_t positions, std::size_t headDim, unsigned threads) {
    const std::size_t padded = (positions + 16 + 63) / 64 * 64;
    const std::size_t dims = (headDim + 63) / 64 * 64;
    const std::size_t head = 2 * padded * dims;
    const std::size_t worker = kAttentionTile * (padded + 2 * dims + 64);
    return (head + threads * worker) * sizeof(float) + 256;
}

void encoderAttention(
    ThreadPool& pool, const EncoderAttention& attention, std::span<std::byte> scratch);

} // namespace shardscope::engine::kernels
