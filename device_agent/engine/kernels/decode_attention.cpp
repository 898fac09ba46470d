// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/decode_attention.h"

#include <algorithm>

#include "device_agent/engine/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/decode_attention.cpp"
#include "hwy/foreach_target.h"

#include "hwy/cache_control.h"

#include "device_agent/engine/kernels/kv_elements-inl.h"
#include "device_agent/engine/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

inline constexpr std::size_t kBlock = kv::kPositionsPerBlock;
inline constexpr std::size_t kBlockVectors = kBlock / hn::MaxLanes(Floats());

/// scores[0 .. kBlocks * 16) = q . keys of consecutive blocks, without scales; each score is one
/// chain over ascending dims.
template <class Element, std::size_t kBlocks>
HWY_INLINE void
scoreBlocks(const std::byte* keys, std::size_t dims, const float* q, float* scores) {
    const Floats d;
    using V = hn::Vec<Floats>;
    constexpr std::size_t kLanes = hn::MaxLanes(Floats());
    constexpr std::size_t kVectors = kBlocks * kBlockVectors;
    constexpr std::size_t kStep = Element::kPairs ? 2 : 1;
    const std::size_t blockBytes = Element::bytes(kBlock * dims);
    V sum[kVectors];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v)
        sum[v] = hn::Zero(d);
    // The next blocks are asked for, as many bytes at each step as the step uses.
    const std::byte* ahead = keys + kBlocks * blockBytes;
    constexpr std::size_t kStepBytes = Element::bytes(kBlocks * kBlock * kStep);
    for (std::size_t dim = 0; dim < dims; dim += kStep) {
        const std::byte* const row = keys + Element::bytes(dim * kBlock);
        for (std::size_t line = 0; line < kStepBytes; line += 64)
            hwy::Prefetch(ahead + line);
        ahead += kStepBytes;
#pragma GCC unroll 16
        for (std::size_t v = 0; v < kVectors; ++v) {
            const std::byte* const at = row + v / kBlockVectors * blockBytes +
                                        Element::bytes(v % kBlockVectors * kLanes * kStep);
            if constexpr (Element::kPairs) {
                V low, high;
                Element::load(d, at, low, high);
                sum[v] = hn::MulAdd(low, hn::Set(d, q[dim]), sum[v]);
                sum[v] = hn::MulAdd(high, hn::Set(d, q[dim + 1]), sum[v]);
            } else {
                sum[v] = hn::MulAdd(Element::load(d, at), hn::Set(d, q[dim]), sum[v]);
            }
        }
    }
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v)
        hn::StoreU(sum[v], d, scores + v * kLanes);
}

/// x[i] *= scales[i], the scales at any address.
HWY_INLINE void multiplyScales(float* x, const std::byte* scales, std::size_t count) {
    const Floats d;
    mapInPlace(d, x, count, [&](auto v, std::size_t i, std::size_t n) HWY_ATTR {
        const std::byte* const at = scales + i * sizeof(float);
        return hn::Mul(v, n == hn::Lanes(d) ? loadBytes(d, at) : loadFirst(d, at, n));
    });
}

template <class Element>
void scoreHead(
    const KvCache& cache, std::size_t head, std::size_t positions, const float* q, float* scores) {
    constexpr std::size_t kTogether = std::max<std::size_t>(8 / kBlockVectors, 1);
    const std::size_t dims = cache.shape.headDim;
    const std::byte* const keys = cache.keys + head * kv::kvHeadBytes(cache.shape);
    const std::size_t blocks = (positions + kBlock - 1) / kBlock;
    const std::size_t blockBytes = Element::bytes(kBlock * dims);
    std::size_t b = 0;
    for (; b + kTogether <= blocks; b += kTogether)
        scoreBlocks<Element, kTogether>(keys + b * blockBytes, dims, q, scores + b * kBlock);
    for (; b < blocks; ++b)
        scoreBlocks<Element, 1>(keys + b * blockBytes, dims, q, scores + b * kBlock);
    if constexpr (Element::kScaled)
        multiplyScales(
            scores,
            cache.keys + kv::kvScalesOffset(cache.shape) +
                head * cache.shape.paddedCapacity() * sizeof(float),
            positions);
}

/// out[0 .. kVectors vectors) = factor * sum over positions of weight * value, in two interleaved
/// chains of positions. Pairs sum as many dims again, at out + dims/2.
template <class Element, std::size_t kVectors, class D>
HWY_INLINE void sumValues(
    D d, const std::byte* values, std::size_t dims, std::size_t positions, const float* weights,
    float factor, float* out) {
    using V = hn::Vec<D>;
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    constexpr std::size_t kHalves = Element::kPairs ? 2 : 1;
    V sum[2][kVectors * kHalves];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors * kHalves; ++v)
        sum[0][v] = sum[1][v] = hn::Zero(d);
    const auto add = [&](std::size_t position, V* chain) HWY_ATTR {
        const V weight = hn::Set(d, weights[position]);
        const std::byte* const row = values + Element::bytes(position * dims);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v) {
            if constexpr (Element::kPairs) {
                V low, high;
                Element::load(d, row + v * kLanes, low, high);
                chain[v] = hn::MulAdd(low, weight, chain[v]);
                chain[kVectors + v] = hn::MulAdd(high, weight, chain[kVectors + v]);
            } else {
                const V value = Element::load(d, row + Element::bytes(v * kLanes));
                chain[v] = hn::MulAdd(value, weight, chain[v]);
            }
        }
    };
    std::size_t position = 0;
    for (; position + 2 <= positions; position += 2) {
        add(position, sum[0]);
        add(position + 1, sum[1]);
    }
    if (position < positions)
        add(position, sum[0]);
    const V f = hn::Set(d, factor);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v)
        hn::StoreU(hn::Mul(hn::Add(sum[0][v], sum[1][v]), f), d, out + v * kLanes);
    if constexpr (Element::kPairs)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v)
            hn::StoreU(
                hn::Mul(hn::Add(sum[0][kVectors + v], sum[1][kVectors + v]), f), d,
                out + dims / 2 + v * kLanes);
}

template <class Element>
void sumHead(
    const KvCache& cache, std::size_t head, std::size_t positions, float* weights, float factor,
    float* out) {
    const std::size_t dims = cache.shape.headDim;
    const std::byte* const values = cache.values + head * kv::kvHeadBytes(cache.shape);
    if constexpr (Element::kScaled)
        multiplyScales(
            weights,
            cache.values + kv::kvScalesOffset(cache.shape) +
                head * cache.shape.paddedCapacity() * sizeof(float),
            positions);
    const std::size_t run = Element::kPairs ? dims / 2 : dims;
    const auto sumRun = [&](auto d) HWY_ATTR {
        constexpr std::size_t kLanes = hn::MaxLanes(d);
        constexpr std::size_t kTogether = Element::kPairs ? 2 : 4;
        std::size_t dim = 0;
        for (; dim + kTogether * kLanes <= run; dim += kTogether * kLanes)
            sumValues<Element, kTogether>(
                d, values + Element::bytes(dim * (dims / run)), dims, positions, weights, factor,
                out + dim);
        for (; dim < run; dim += kLanes)
            sumValues<Element, 1>(
                d, values + Element::bytes(dim * (dims / run)), dims, positions, weights, factor,
                out + dim);
    };
    withVectorsDividing(run, sumRun);
}

void decodeAttentionImpl(
    ThreadPool& pool, const KvCache& cache, std::size_t positions, const float* q, float scale,
    float* out, std::span<std::byte> scratch) {
    const std::size_t padded = (cache.shape.capacity + 63) / 64 * 64;
    ScratchFloats floats(scratch);
    float* const all = floats.take(pool.threads() * padded);
    withKvType(cache.shape.type, [&](auto element) HWY_ATTR {
        using Element = decltype(element);
        pool.parallelFor(cache.shape.heads, [&](std::size_t head, unsigned worker) {
            float* const scores = all + worker * padded;
            const std::size_t at = head * cache.shape.headDim;
            scoreHead<Element>(cache, head, positions, q + at, scores);
            const float sum = expInPlace(scores, positions, scale);
            sumHead<Element>(cache, head, positions, scores, 1.0f / sum, out + at);
        });
    });
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(decodeAttentionImpl);

void decodeAttention(
    ThreadPool& pool, const KvCache& cache, std::size_t positions, const float* q, float scale,
    float* out, std::span<std::byte> scratch) {
    HWY_DYNAMIC_DISPATCH(decodeAttentionImpl)(pool, cache, positions, q, scale, out, scratch);
}

} // namespace shardscope::engine::kernels
#endif
