// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/decode_attention.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/kv_store.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/kv_elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

inline constexpr std::size_t kBlock = kv::kPositionsPerBlock;

/// Dims of a key block that are gathered at a time.
inline constexpr std::size_t kGatheredDims = 16;

/// Rows [0, rows) of k become lanes [lane, lane + rows) of block `block` of one head.
template <class Element>
void storeKeyBlock(
    const KvCache& cache, std::size_t head, std::size_t block, std::size_t lane, std::size_t rows,
    const float* k, std::size_t ldk) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t dims = cache.shape.headDim;
    HWY_ALIGN float x[kGatheredDims][kBlock] = {};
    const auto gather = [&](std::size_t dim) {
        for (std::size_t i = 0; i < std::min(kGatheredDims, dims - dim); ++i)
            for (std::size_t r = 0; r < rows; ++r)
                x[i][r] = k[r * ldk + head * dims + dim + i];
    };
    HWY_ALIGN float scale[kBlock];
    if constexpr (Element::kScaled) {
        for (std::size_t r = 0; r < rows; ++r) {
            float most = 0.0f;
            for (std::size_t dim = 0; dim < dims; ++dim)
                most = std::max(most, std::fabs(k[r * ldk + head * dims + dim]));
            scale[r] = hn::GetLane(scaleOf<Element>(d, hn::Set(d, most)));
        }
        std::fill(scale + rows, scale + kBlock, 1.0f);
        std::byte* const scales = cache.keys + kv::kvScalesOffset(cache.shape);
        const std::size_t first = head * cache.shape.paddedCapacity() + block * kBlock + lane;
        std::memcpy(scales + first * sizeof(float), scale, rows * sizeof(float));
    }

    std::byte* const to =
        cache.keys + head * kv::kvHeadBytes(cache.shape) + Element::bytes(block * kBlock * dims);
    constexpr std::size_t kStep = Element::kPairs ? 2 : 1;
    constexpr std::size_t kRowBytes = Element::bytes(kBlock * kStep); // of a dim, or a pair of them
    HWY_ALIGN std::byte encoded[kRowBytes];
    for (std::size_t dim = 0; dim < dims; dim += kGatheredDims) {
        gather(dim);
        for (std::size_t i = 0; i < std::min(kGatheredDims, dims - dim); i += kStep) {
            for (std::size_t r = 0; r < kBlock; r += lanes) {
                const auto s = Element::kScaled ? hn::Load(d, scale + r) : hn::Zero(d);
                const auto v = quantised<Element>(d, hn::Load(d, x[i] + r), s);
                if constexpr (Element::kPairs)
                    Element::store(
                        d, v, quantised<Element>(d, hn::Load(d, x[i + 1] + r), s), encoded + r);
                else
                    Element::store(d, v, encoded + Element::bytes(r));
            }
            constexpr std::size_t kLaneBytes = kRowBytes / kBlock;
            std::memcpy(
                to + (dim + i) / kStep * kRowBytes + lane * kLaneBytes, encoded, rows * kLaneBytes);
        }
    }
}

/// One position of one head.
template <class Element>
void storeValueRow(const KvCache& cache, std::size_t head, std::size_t position, const float* v) {
    const kv::KvShape& shape = cache.shape;
    const std::size_t dims = shape.headDim;
    float scale = 1.0f;
    if constexpr (Element::kScaled) {
        float most = 0.0f;
        for (std::size_t dim = 0; dim < dims; ++dim)
            most = std::max(most, std::fabs(v[dim]));
        const Floats d;
        scale = hn::GetLane(scaleOf<Element>(d, hn::Set(d, most)));
        std::memcpy(
            cache.values + kv::kvScalesOffset(shape) +
                (head * shape.paddedCapacity() + position) * sizeof(float),
            &scale, sizeof scale);
    }
    std::byte* const to =
        cache.values + head * kv::kvHeadBytes(shape) + Element::bytes(position * dims);
    const auto convert = [&](auto d) HWY_ATTR {
        const auto s = hn::Set(d, scale);
        if constexpr (Element::kPairs) {
            for (std::size_t dim = 0; dim < dims / 2; dim += hn::Lanes(d))
                Element::store(
                    d, quantised<Element>(d, hn::LoadU(d, v + dim), s),
                    quantised<Element>(d, hn::LoadU(d, v + dims / 2 + dim), s), to + dim);
        } else {
            for (std::size_t dim = 0; dim < dims; dim += hn::Lanes(d))
                Element::store(
                    d, quantised<Element>(d, hn::LoadU(d, v + dim), s), to + Element::bytes(dim));
        }
    };
    withVectorsDividing(Element::kPairs ? dims / 2 : dims, convert);
}

void storeKeysImpl(
    ThreadPool& pool, const KvCache& cache, std::size_t first, std::size_t rows, const float* k,
    std::size_t ldk) {
    if (rows == 0)
        return;
    const std::size_t firstBlock = first / kBlock;
    const std::size_t blocks = (first + rows - 1) / kBlock - firstBlock + 1;
    withKvType(cache.shape.type, [&](auto element) HWY_ATTR {
        pool.parallelFor(blocks, [&](std::size_t task, unsigned) {
            const std::size_t begin = std::max(first, (firstBlock + task) * kBlock);
            const std::size_t end = std::min(first + rows, (firstBlock + task + 1) * kBlock);
            for (std::size_t head = 0; head < cache.shape.heads; ++head)
                storeKeyBlock<decltype(element)>(
                    cache, head, firstBlock + task, begin % kBlock, end - begin,
                    k + (begin - first) * ldk, ldk);
        });
    });
}

void storeValuesImpl(
    ThreadPool& pool, const KvCache& cache, std::size_t first, std::size_t rows, const float* v,
    std::size_t ldv) {
    constexpr std::size_t kRowsPerTask = 32;
    withKvType(cache.shape.type, [&](auto element) HWY_ATTR {
        pool.parallelFor((rows + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task, unsigned) {
            const std::size_t end = std::min(rows, (task + 1) * kRowsPerTask);
            for (std::size_t r = task * kRowsPerTask; r < end; ++r)
                for (std::size_t head = 0; head < cache.shape.heads; ++head)
                    storeValueRow<decltype(element)>(
                        cache, head, first + r, v + r * ldv + head * cache.shape.headDim);
        });
    });
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(storeKeysImpl);
HWY_EXPORT(storeValuesImpl);

void storeKeys(
    ThreadPool& pool, const KvCache& cache, std::size_t first, std::size_t rows, const float* k,
    std::size_t ldk) {
    HWY_DYNAMIC_DISPATCH(storeKeysImpl)(pool, cache, first, rows, k, ldk);
}

void storeValues(
    ThreadPool& pool, const KvCache& cache, std::size_t first, std::size_t rows, const float* v,
    std::size_t ldv) {
    HWY_DYNAMIC_DISPATCH(storeValuesImpl)(pool, cache, first, rows, v, ldv);
}

} // namespace shardscope::engine::kernels
#endif
