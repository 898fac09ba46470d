// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of query rows to the positions of caches (self or cross), and storing into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/kv/kv_format.h"

namespace shardscope::engine::kernels {

/// One layer's cache: two parts of kvPartBytes(shape) each, at any address.
///
/// Or a row of such caches, `slotStride` bytes from one to the next, of which a sequence sees at
/// position p the cache number slotOf[p]. So the beams of a search share what they have in common,
/// and when one splits or ends nothing is copied but these numbers.
struct KvCache {
    kv::KvShape shape;
    std::byte* keys = nullptr;
    std::byte* values = nullptr;
    const std::uint8_t* slotOf = nullptr; ///< for attention; none: this cache at all positions
    std::size_t slotStride = 0;
};

/// Converts rows [0, rows) of k and v, each [rows, heads * headDim] float32, into positions
/// [first, first + rows) of the cache itself, whatever slotOf says; first + rows <= capacity.
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

/// A query row: q and out are heads * headDim floats; out may be q.
struct DecodeQuery {
    KvCache cache;
    std::size_t positions = 0; ///< at least 1
    const float* q = nullptr;
    float* out = nullptr;
};

/// out = softmax(scale q K^T) V over positions [0, positions) for each query, all of caches of one
/// shape. The heads are split over the threads; one head of all queries follows another, so that
/// queries to the same positions find them near.
void decodeAttention(
    ThreadPool& pool, std::span<const DecodeQuery> queries, float scale,
    std::span<std::byte> scratch);

inline void decodeAttention(
    ThreadPool& pool, const KvCache& cache, std::size_t positions, const float* q, float scale,
    float* out, std::span<std::byte> scratch) {
    const DecodeQuery query{cache, positions, q, out};
    decodeAttention(pool, std::span(&query, 1), scale, scratch);
}

} // namespace shardscope::engine::kernels
