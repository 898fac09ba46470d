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

/// x[i] *= scale of position i; `scales` are those of the cache itself, at any address.
HWY_INLINE void
multiplyScales(const KvCache& cache, float* x, const std::byte* scales, std::size_t count) {
    if (cache.slotOf != nullptr) {
        for (std::size_t i = 0; i < count; ++i) {
            float scale;
            std::memcpy(
                &scale, scales + cache.slotOf[i] * cache.slotStride + i * sizeof scale,
                sizeof scale);
            x[i] *= scale;
        }
        return;
    }
    const Floats d;
    mapInPlace(d, x, count, [&](auto v, std::size_t i, std::size_t n) HWY_ATTR {
        const std::byte* const at = scales + i * sizeof(float);
        return hn::Mul(v, n == hn::Lanes(d) ? loadBytes(d, at) : loadFirst(d, at, n));
    });
}

/// Scores of `blocks` blocks that stand one after the other.
template <class Element>
HWY_INLINE void scoreRun(
    const std::byte* keys, std::size_t blocks, std::size_t dims, const float* q, float* scores) {
    constexpr std::size_t kTogether = std::max<std::size_t>(8 / kBlockVectors, 1);
    const std::size_t blockBytes = Element::bytes(kBlock * dims);
    std::size_t b = 0;
    for (; b + kTogether <= blocks; b += kTogether)
        scoreBlocks<Element, kTogether>(keys + b * blockBytes, dims, q, scores + b * kBlock);
    for (; b < blocks; ++b)
        scoreBlocks<Element, 1>(keys + b * blockBytes, dims, q, scores + b * kBlock);
}

/// Scores of positions that stand in several caches: stretches of blocks that are wholly in one
/// cache as ever; the others once for each cache they are in, and of that the lanes that count.
template <class Element>
HWY_INLINE void scoreSlots(
    const KvCache& cache, const std::byte* keys, std::size_t positions, const float* q,
    float* scores) {
    const std::size_t dims = cache.shape.headDim;
    const std::size_t blockBytes = Element::bytes(kBlock * dims);
    const auto endOfSlot = [&](std::size_t at) {
        const std::uint8_t slot = cache.slotOf[at];
        while (at < positions && cache.slotOf[at] == slot)
            ++at;
        return at;
    };
    float lanes[kBlock];
    for (std::size_t at = 0; at < positions;) {
        const std::size_t end = endOfSlot(at), first = at / kBlock;
        const std::byte* const from =
            keys + cache.slotOf[at] * cache.slotStride + first * blockBytes;
        const std::size_t whole = end == positions ? (end + kBlock - 1) / kBlock : end / kBlock;
        if (at % kBlock == 0 && whole > first) {
            scoreRun<Element>(from, whole - first, dims, q, scores + at);
            at = std::min(whole * kBlock, positions);
            continue;
        }
        const std::size_t stop = std::min(end, (first + 1) * kBlock);
        scoreBlocks<Element, 1>(from, dims, q, lanes);
        std::copy(lanes + at % kBlock, lanes + (stop - first * kBlock), scores + at);
        at = stop;
    }
}

template <class Element>
void scoreHead(
    const KvCache& cache, std::size_t head, std::size_t positions, const float* q, float* scores) {
    const std::byte* const keys = cache.keys + head * kv::kvHeadBytes(cache.shape);
    if (cache.slotOf != nullptr)
        scoreSlots<Element>(cache, keys, positions, q, scores);
    else
        scoreRun<Element>(keys, (positions + kBlock - 1) / kBlock, cache.shape.headDim, q, scores);
    if constexpr (Element::kScaled)
        multiplyScales(
            cache, scores,
            cache.keys + kv::kvScalesOffset(cache.shape) +
                head * cache.shape.paddedCapacity() * sizeof(float),
            positions);
}

/// out[0 .. kVectors vectors) = factor * sum over positions of weight * value, in two interleaved
/// chains of positions. rowOf(position) is where the first of the values stands. Pairs sum as many
/// dims again, at out + dims/2.
template <class Element, std::size_t kVectors, class D, class RowOf>
HWY_INLINE void sumValues(
    D d, RowOf rowOf, std::size_t dims, std::size_t positions, const float* weights, float factor,
    float* out) {
    using V = hn::Vec<D>;
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    constexpr std::size_t kHalves = Element::kPairs ? 2 : 1;
    V sum[2][kVectors * kHalves];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors * kHalves; ++v)
        sum[0][v] = sum[1][v] = hn::Zero(d);
    const auto add = [&](std::size_t position, V* chain) HWY_ATTR {
        const V weight = hn::Set(d, weights[position]);
        const std::byte* const row = rowOf(position);
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
            cache, weights,
            cache.values + kv::kvScalesOffset(cache.shape) +
                head * cache.shape.paddedCapacity() * sizeof(float),
            positions);
    const std::size_t run = Element::kPairs ? dims / 2 : dims;
    const auto sumAll = [&](auto d, auto rowsFrom) HWY_ATTR {
        constexpr std::size_t kLanes = hn::MaxLanes(d);
        constexpr std::size_t kTogether = Element::kPairs ? 2 : 4;
        std::size_t dim = 0;
        for (; dim + kTogether * kLanes <= run; dim += kTogether * kLanes)
            sumValues<Element, kTogether>(
                d, rowsFrom(values + Element::bytes(dim * (dims / run))), dims, positions, weights,
                factor, out + dim);
        for (; dim < run; dim += kLanes)
            sumValues<Element, 1>(
                d, rowsFrom(values + Element::bytes(dim * (dims / run))), dims, positions, weights,
                factor, out + dim);
    };
    const auto inOne = [dims](const std::byte* first) {
        return [=](std::size_t position) { return first + Element::bytes(position * dims); };
    };
    const auto inSlots = [dims, &cache](const std::byte* first) {
        return [=, slotOf = cache.slotOf, stride = cache.slotStride](std::size_t position) {
            return first + slotOf[position] * stride + Element::bytes(position * dims);
        };
    };
    withVectorsDividing(run, [&](auto d) HWY_ATTR {
        if (cache.slotOf == nullptr)
            sumAll(d, inOne);
        else
            sumAll(d, inSlots);
    });
}

void decodeAttentionImpl(
    ThreadPool& pool, std::span<const DecodeQuery> queries, float scale,
    std::span<std::byte> scratch) {
    if (queries.empty())
        return;
    const kv::KvShape shape = queries[0].cache.shape;
    const std::size_t padded = (shape.capacity + 63) / 64 * 64;
    ScratchFloats floats(scratch);
    float* const all = floats.take(pool.threads() * padded);
    withKvType(shape.type, [&](auto element) HWY_ATTR {
        using Element = decltype(element);
        pool.parallelFor(shape.heads, [&](std::size_t head, unsigned worker) {
            float* const scores = all + worker * padded;
            const std::size_t at = head * shape.headDim;
            for (const DecodeQuery& query : queries) {
                scoreHead<Element>(query.cache, head, query.positions, query.q + at, scores);
                const float sum = expInPlace(scores, query.positions, scale);
                sumHead<Element>(
                    query.cache, head, query.positions, scores, 1.0f / sum, query.out + at);
            }
        });
    });
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(decodeAttentionImpl);

void decodeAttention(
    ThreadPool& pool, std::span<const DecodeQuery> queries, float scale,
    std::span<std::byte> scratch) {
    HWY_DYNAMIC_DISPATCH(decodeAttentionImpl)(pool, queries, scale, scratch);
}

} // namespace shardscope::engine::kernels
#endif
