// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/shared_attention.h"

#include <algorithm>
#include <type_traits>

#include "device_agent/engine/kernels/matvec.h"
#include "device_agent/engine/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/shared_attention.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/softmax-inl.h"
#include "device_agent/engine/kernels/unpack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// out[j] = sum over r of q[r] W[r, j] for kVectors vectors of columns from `first` on; one chain
/// over ascending r for each.
template <class Unpack, std::size_t kVectors, class D>
HWY_INLINE void
absorbColumns(D d, const WeightView& w, const float* q, std::size_t first, float* out) {
    using V = hn::Vec<D>;
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    V sum[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v)
        sum[v] = hn::Zero(d);
    for (std::size_t r = 0; r < w.rows; ++r) {
        const V weight = hn::Set(d, q[r]);
        const std::byte* const row = w.row(r);
        loadRun<Unpack, kVectors>(d, row, first, [&](auto vector, std::size_t v) HWY_ATTR {
            sum[v] = hn::MulAdd(vector, weight, sum[v]);
        });
    }
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v)
        hn::StoreU(sum[v], d, out + first + v * kLanes);
}

/// u = W_k,h^T q_h of one head, whose rows are `w`.
template <class Unpack>
void absorbQuery(const WeightView& w, const float* q, float* u) {
    const auto columns = [&](auto d) HWY_ATTR {
        constexpr std::size_t kLanes = hn::MaxLanes(d);
        std::size_t j = 0;
        for (; j + 8 * kLanes <= w.cols; j += 8 * kLanes)
            absorbColumns<Unpack, 8>(d, w, q, j, u);
        for (; j < w.cols; j += kLanes)
            absorbColumns<Unpack, 1>(d, w, q, j, u);
    };
    if constexpr (Unpack::kBlock > 1)
        columns(Floats()); // blocks are whole vectors
    else
        withVectorsDividing(w.cols, columns);
}

/// sums[h][0 .. kVectors vectors) += sum over i of weights[h][i] rows[i], kHeads heads.
template <std::size_t kHeads, std::size_t kVectors, class D>
HWY_INLINE void addRows(
    D d, const float* rows, std::size_t width, std::size_t count, const float* weights,
    std::size_t ldw, float* sums, bool resume) {
    using V = hn::Vec<D>;
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    V sum[kHeads][kVectors];
#pragma GCC unroll 8
    for (std::size_t h = 0; h < kHeads; ++h)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v)
            sum[h][v] = resume ? hn::LoadU(d, sums + h * width + v * kLanes) : hn::Zero(d);
    for (std::size_t i = 0; i < count; ++i) {
        V row[kVectors];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v)
            row[v] = hn::LoadU(d, rows + i * width + v * kLanes);
#pragma GCC unroll 8
        for (std::size_t h = 0; h < kHeads; ++h) {
            const V weight = hn::Set(d, weights[h * ldw + i]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < kVectors; ++v)
                sum[h][v] = hn::MulAdd(row[v], weight, sum[h][v]);
        }
    }
#pragma GCC unroll 8
    for (std::size_t h = 0; h < kHeads; ++h)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v)
            hn::StoreU(sum[h][v], d, sums + h * width + v * kLanes);
}

/// Columns of the weighted sums that one task makes for all heads; a multiple of every vector.
inline constexpr std::size_t kSumColumns = 128;

/// context[h][j] = sum over i of weights[h][i] encoded[i][j] for columns [first, end), over
/// stretches of positions that a level-1 cache holds while all heads pass over them.
void sumColumns(
    const SharedAttention& at, const float* weights, std::size_t ldw, std::size_t first,
    std::size_t end, float* context) {
    constexpr std::size_t kStretch = 32;
    // Heads times four vectors of sums have to fit the registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
    constexpr std::size_t kHeads = 6;
#else
    constexpr std::size_t kHeads = 2;
#endif
    const std::size_t width = at.keyWeights.cols;
    withVectorsDividing(width, [&](auto d) HWY_ATTR {
        constexpr std::size_t kLanes = hn::MaxLanes(d);
        for (std::size_t i = 0; i < at.positions; i += kStretch) {
            const std::size_t count = std::min(kStretch, at.positions - i);
            std::size_t h = 0;
            const auto pass = [&](auto heads) HWY_ATTR {
                constexpr std::size_t kTogether = decltype(heads)::value;
                const float* const weight = weights + h * ldw + i;
                const float* const rows = at.encoded + i * width;
                float* const sums = context + h * width;
                std::size_t j = first;
                for (; j + 4 * kLanes <= end; j += 4 * kLanes)
                    addRows<kTogether, 4>(d, rows + j, width, count, weight, ldw, sums + j, i != 0);
                for (; j < end; j += kLanes)
                    addRows<kTogether, 1>(d, rows + j, width, count, weight, ldw, sums + j, i != 0);
            };
            for (; h + kHeads <= at.heads; h += kHeads)
                pass(std::integral_constant<std::size_t, kHeads>());
            for (; h + 2 <= at.heads; h += 2)
                pass(std::integral_constant<std::size_t, 2>());
            for (; h < at.heads; ++h)
                pass(std::integral_constant<std::size_t, 1>());
        }
    });
}

/// out_h = W_v,h c_h + b_v,h.
void projectContext(ThreadPool& pool, const SharedAttention& at, const float* context, float* out) {
    constexpr std::size_t kTogether = 32;
    const std::size_t width = at.valueWeights.cols;
    const std::size_t headDim = width / at.heads;
    Matvec products[kTogether];
    for (std::size_t head = 0; head < at.heads; head += kTogether) {
        const std::size_t count = std::min(kTogether, at.heads - head);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = (head + i) * headDim;
            Epilogue epilogue;
            if (at.valueBias != nullptr)
                epilogue.bias = at.valueBias + row * sizeof(float);
            products[i] = {
                context + (head + i) * width,
                1,
                width,
                at.valueWeights.slice(row, headDim),
                out + row,
                width,
                epilogue};
        }
        matvec(pool, std::span(products, count));
    }
}

void sharedAttentionImpl(
    ThreadPool& pool, const SharedAttention& at, const float* q, float* out,
    std::span<std::byte> scratch) {
    const std::size_t width = at.keyWeights.cols;
    const std::size_t headDim = width / at.heads;
    const std::size_t padded = (at.positions + 63) / 64 * 64;
    ScratchFloats floats(scratch);
    float* const absorbed = floats.take(at.heads * width);
    float* const context = floats.take(at.heads * width);
    float* const weights = floats.take(at.heads * padded);

    withUnpack(at.keyWeights.type, [&](auto unpack) HWY_ATTR {
        pool.parallelFor(at.heads, [&](std::size_t head, unsigned) {
            absorbQuery<decltype(unpack)>(
                at.keyWeights.slice(head * headDim, headDim), q + head * headDim,
                absorbed + head * width);
        });
    });
    // The rows of the encoder output take the place of weights: each is read once for all heads.
    const WeightView encoded{
        reinterpret_cast<const std::byte*>(at.encoded), WeightType::F32, at.positions, width};
    matvec(pool, {absorbed, at.heads, width, encoded, weights, padded, {}});
    pool.parallelFor(at.heads, [&](std::size_t head, unsigned) {
        float* const row = weights + head * padded;
        const Floats d;
        const auto factor = hn::Set(d, 1.0f / expInPlace(row, at.positions, at.scale));
        mapInPlace(d, row, at.positions, [&](auto v, std::size_t, std::size_t) HWY_ATTR {
            return hn::Mul(v, factor);
        });
    });
    pool.parallelFor((width + kSumColumns - 1) / kSumColumns, [&](std::size_t task, unsigned) {
        const std::size_t first = task * kSumColumns;
        sumColumns(at, weights, padded, first, std::min(width, first + kSumColumns), context);
    });
    projectContext(pool, at, context, out);
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(sharedAttentionImpl);

void sharedAttention(
    ThreadPool& pool, const SharedAttention& attention, const float* q, float* out,
    std::span<std::byte> scratch) {
    HWY_DYNAMIC_DISPATCH(sharedAttentionImpl)(pool, attention, q, out, scratch);
}

} // namespace shardscope::engine::kernels
#endif
