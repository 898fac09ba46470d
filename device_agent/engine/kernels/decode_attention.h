// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of one query row to the positions of a cache (self or cross), and storing into it.
#pragma once

#include <cstddef>
#include <span>

#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/kv/kv_format.h"

namespace shardscope::engine::kernels {

/// One layer's cache: two parts of kvPartBytes(shape) each, at any address.
struct KvCache {
    kv::KvShape shape;
    std::byte* keys = nullptr;
    std::byte* values = nullptr;
};

/// Converts rows [0, rows) of k and v, each [rows, heads * headDim] float32, into positions
/// [first, first + rows) of the cache; first + rows <= capacity.
void storeKeys(
    ThreadPool& pool, const KvCache& cache, std::size_t first, std::size_t rows, const float* k,
    std::size_t ldk);
void storeValues(
    ThreadPool& pool, const KvCache& cache, std::size_t first, std::size_t rows, const float* v,
    std::size_t ldv);

/// Scratch that decodeAttention() needs: the scores of one head for each thread.
constexpr std::size_t decodeAttentionScratchBytes(std::size_t capacity, unsigned threads) {
    return threads * ((capacity + 63) / 64 * 64) * sizeof(float) + 256;
}

/// out = softmax(scale q K^T) V over positions [0, positions), positions >= 1. q and out are
/// heads * headDim floats; out may be q. The heads are split over the threads.
void decodeAttention(
    ThreadPool& pool, const KvCache& cache, std::size_t positions, const float* q, float scale,
    float* out, std::span<std::byte> scratch);

} // namespace shardscope::engine::kernels
