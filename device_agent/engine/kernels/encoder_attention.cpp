// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/encoder_attention.h"

#include <algorithm>

#include "device_agent/engine/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/encoder_attention.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

// Everything of a tile is transposed: scores stand as [key][query], so that softmax needs no sum
// across lanes and the weights are already in the order in which the product with V reads them.

static_assert(kAttentionTile % kTileCols == 0);
inline constexpr std::size_t kValueRows = 8; // query rows of a register tile of P V
static_assert(kAttentionTile % kValueRows == 0);

/// One head, packed: keys as register tiles of rows [key/kTileRows][dim/4][kTileRows][4], values as
/// panels of columns [dim/kTileCols][key][kTileCols].
struct PackedHead {
    float* keys;
    float* values;
};

/// What one thread works in.
struct TileScratch {
    float* query;  ///< [panel of kTileCols queries][dim][kTileCols]
    float* scores; ///< [key][kAttentionTile]
    float* sum;    ///< [panel of kTileCols dims][kAttentionTile][kTileCols]
};

void packKeys(const EncoderAttention& at, std::size_t head, std::size_t key, float* keys) {
    const std::size_t valid = std::min(kTileRows, at.positions - key);
    packQuads<kTileRows>(
        at.k + key * at.ldk + head * at.headDim, at.ldk, valid, at.headDim,
        keys + key * at.headDim);
}

void packValues(
    const EncoderAttention& at, std::size_t head, std::size_t first, std::size_t end,
    float* values) {
    for (std::size_t key = first; key < end; ++key) {
        const float* from = at.v + key * at.ldv + head * at.headDim;
        for (std::size_t dim = 0; dim < at.headDim; dim += kTileCols) {
            const std::size_t width = std::min(kTileCols, at.headDim - dim);
            float* to = values + dim * at.positions + key * kTileCols;
            std::memcpy(to, from + dim, width * sizeof(float));
            std::memset(to + width, 0, (kTileCols - width) * sizeof(float));
        }
    }
}

void packQueries(
    const EncoderAttention& at, std::size_t head, std::size_t first, std::size_t valid,
    float* query) {
    for (std::size_t q = 0; q < kAttentionTile; ++q) {
        const float* from = at.q + (first + std::min(q, valid - 1)) * at.ldq + head * at.headDim;
        float* to = query + q / kTileCols * kTileCols * at.headDim + q % kTileCols;
        for (std::size_t dim = 0; dim < at.headDim; ++dim)
            to[dim * kTileCols] = q < valid ? from[dim] * at.scale : 0.0f;
    }
}

void scoreTile(const EncoderAttention& at, const float* keys, const TileScratch& scratch) {
    for (std::size_t key = 0; key < at.positions; key += kTileRows)
        for (std::size_t q = 0; q < kAttentionTile; q += kTileCols)
            tileProduct<kTileRows>(
                at.headDim, keys + key * at.headDim, QuadsOfK<kTileRows>(),
                scratch.query + q * at.headDim, kTileCols,
                scratch.scores + key * kAttentionTile + q, kAttentionTile, false);
}

/// Turns the scores into weights e^(score - max); returns nothing but leaves 1/sum of each query in
/// `factor`. Sums run over four interleaved sets of keys in ascending order.
void weighTile(std::size_t positions, float* scores, float* factor) {
    const Floats d;
    using V = hn::Vec<Floats>;
    for (std::size_t q = 0; q < kAttentionTile; q += hn::Lanes(d)) {
        V most = hn::LoadU(d, scores + q);
        for (std::size_t key = 1; key < positions; ++key)
            most = hn::Max(most, hn::LoadU(d, scores + key * kAttentionTile + q));
        V s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
        const auto weigh = [&](std::size_t key) HWY_ATTR {
            float* const at = scores + key * kAttentionTile + q;
            const V e = expOf(d, hn::Sub(hn::LoadU(d, at), most));
            hn::StoreU(e, d, at);
            return e;
        };
        std::size_t key = 0;
        for (; key + 4 <= positions; key += 4) {
            s0 = hn::Add(s0, weigh(key));
            s1 = hn::Add(s1, weigh(key + 1));
            s2 = hn::Add(s2, weigh(key + 2));
            s3 = hn::Add(s3, weigh(key + 3));
        }
        for (; key < positions; ++key)
            s0 = hn::Add(s0, weigh(key));
        const V sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
        hn::StoreU(hn::Div(hn::Set(d, 1.0f), sum), d, factor + q);
    }
}

/// sum = weights^T V, over stretches of keys of which weights and values fit a level-1 cache.
void sumTile(const EncoderAttention& at, const float* values, const TileScratch& scratch) {
    constexpr std::size_t kStretch = 64;
    for (std::size_t key = 0; key < at.positions; key += kStretch) {
        const std::size_t depth = std::min(kStretch, at.positions - key);
        for (std::size_t dim = 0; dim < at.headDim; dim += kTileCols)
            for (std::size_t q = 0; q < kAttentionTile; q += kValueRows)
                tileProduct<kValueRows>(
                    depth, scratch.scores + key * kAttentionTile + q, MajorK{kAttentionTile},
                    values + dim * at.positions + key * kTileCols, kTileCols,
                    scratch.sum + dim * kAttentionTile + q * kTileCols, kTileCols, key != 0);
    }
}

void storeTile(
    const EncoderAttention& at, std::size_t head, std::size_t first, std::size_t valid,
    const float* sum, const float* factor) {
    withVectorsDividing(at.headDim, [&](auto d) HWY_ATTR {
        for (std::size_t q = 0; q < valid; ++q) {
            float* const out = at.out + (first + q) * at.ldo + head * at.headDim;
            for (std::size_t dim = 0; dim < at.headDim; dim += hn::Lanes(d)) {
                const float* const from = sum + dim / kTileCols * kTileCols * kAttentionTile +
                                          q * kTileCols + dim % kTileCols;
                hn::StoreU(hn::Mul(hn::LoadU(d, from), hn::Set(d, factor[q])), d, out + dim);
            }
        }
    });
}

void encoderAttentionImpl(
    ThreadPool& pool, const EncoderAttention& at, std::span<std::byte> scratch) {
    const std::size_t padded = (at.positions + 16 + 63) / 64 * 64;
    const std::size_t dims = (at.headDim + 63) / 64 * 64;
    const std::size_t workerFloats = kAttentionTile * (padded + 2 * dims + 64);
    ScratchFloats floats(scratch);
    const PackedHead packed{floats.take(padded * dims), floats.take(padded * dims)};
    float* const workers = floats.take(pool.threads() * workerFloats);

    constexpr std::size_t kKeysPerTask = 8 * kTileRows;
    const std::size_t packTasks = (at.positions + kKeysPerTask - 1) / kKeysPerTask;
    const std::size_t tiles = (at.positions + kAttentionTile - 1) / kAttentionTile;
    for (std::size_t head = 0; head < at.heads; ++head) {
        pool.parallelFor(packTasks, [&](std::size_t task, unsigned) {
            const std::size_t first = task * kKeysPerTask;
            const std::size_t end = std::min(at.positions, first + kKeysPerTask);
            for (std::size_t key = first; key < end; key += kTileRows)
                packKeys(at, head, key, packed.keys);
            packValues(at, head, first, end, packed.values);
        });
        pool.parallelFor(tiles, [&](std::size_t tile, unsigned worker) {
            float* const own = workers + worker * workerFloats;
            const TileScratch tileScratch{
                own, own + kAttentionTile * dims, own + kAttentionTile * (dims + padded)};
            const std::size_t first = tile * kAttentionTile;
            const std::size_t valid = std::min(kAttentionTile, at.positions - first);
            HWY_ALIGN float factor[kAttentionTile];
            packQueries(at, head, first, valid, tileScratch.query);
            scoreTile(at, packed.keys, tileScratch);
            weighTile(at.positions, tileScratch.scores, factor);
            sumTile(at, packed.values, tileScratch);
            storeTile(at, head, first, valid, tileScratch.sum, factor);
        });
    }
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(encoderAttentionImpl);

void encoderAttention(
    ThreadPool& pool, const EncoderAttention& attention, std::span<std::byte> scratch) {
    HWY_DYNAMIC_DISPATCH(encoderAttentionImpl)(pool, attention, scratch);
}

} // namespace shardscope::engine::kernels
#endif
