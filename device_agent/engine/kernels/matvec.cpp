// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/matvec.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/matvec.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/epilogue-inl.h"
#include "device_agent/engine/kernels/unpack-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

// Accumulators in flight: half of the vector registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr std::size_t kAccumulators = 16;
#else
inline constexpr std::size_t kAccumulators = 8;
#endif

/// Rows of W that are read side by side for `m` rows of x.
constexpr std::size_t rowsInFlight(std::size_t m) {
    return std::clamp<std::size_t>(kAccumulators / m, 1, 8);
}

/// Rows of W that go through all rows of x before the next ones: few enough for a level-1 cache.
inline constexpr std::size_t kChunkRows = 32;

/// How far ahead of their use weights are asked for, at least.
inline constexpr std::size_t kAheadBytes = std::size_t{12} << 10;

/// out[i][r] = x[m + i] . W[row + r] for kM rows of x and kR rows of W; kChunkRows from row to row.
template <class Unpack, std::size_t kM, std::size_t kR>
HWY_NOINLINE void dotRows(const Matvec& product, std::size_t m, std::size_t row, float* out) {
    const Floats d;
    using V = hn::Vec<Floats>;
    constexpr std::size_t kLanes = hn::MaxLanes(Floats());
    const std::size_t depth = product.weights.cols;
    const std::size_t stride = product.weights.rowBytes();
    const std::byte* const w = product.weights.row(row);
    const float* const x = product.x + m * product.ldx;
    V sum[kM][kR];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kM; ++i)
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kR; ++r)
            sum[i][r] = hn::Zero(d);

    // The rows are too short for the processor to foresee the next ones, so those are asked for, as
    // many bytes at each step as the step uses, and early enough for the memory to answer.
    constexpr std::size_t kVectors = std::max<std::size_t>(Unpack::kBlock / kLanes, 1);
    constexpr std::size_t kStep = kVectors * kLanes;
    const std::byte* ahead = w + std::max(kR * stride, kAheadBytes);
    constexpr std::size_t kStepBytes = kR * Unpack::bytes(kStep);
    std::size_t k = 0;
    for (; k + kStep <= depth; k += kStep) {
        for (std::size_t line = 0; line < kStepBytes; line += 64)
            hwy::Prefetch(ahead + line);
        ahead += kStepBytes;
        V xv[kM][kVectors];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kM; ++i)
#pragma GCC unroll 8
            for (std::size_t v = 0; v < kVectors; ++v)
                xv[i][v] = hn::LoadU(d, x + i * product.ldx + k + v * kLanes);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kR; ++r)
            loadRun<Unpack, kVectors>(d, w + r * stride, k, [&](auto wv, std::size_t v) HWY_ATTR {
#pragma GCC unroll 8
                for (std::size_t i = 0; i < kM; ++i)
                    sum[i][r] = hn::MulAdd(wv, xv[i][v], sum[i][r]);
            });
    }
    if constexpr (Unpack::kBlock == 1)
        if (k < depth) {
            // Unrolled, too: an index that is no constant would keep all sums in memory.
#pragma GCC unroll 8
            for (std::size_t r = 0; r < kR; ++r) {
                const V wv = loadRest<Unpack>(d, w + r * stride, k, depth - k);
#pragma GCC unroll 8
                for (std::size_t i = 0; i < kM; ++i)
                    sum[i][r] =
                        hn::MulAdd(wv, loadFirst(d, x + i * product.ldx + k, depth - k), sum[i][r]);
            }
        }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kM; ++i)
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kR; ++r)
            out[i * kChunkRows + r] = sumLanes(d, sum[i][r]);
}

/// Rows [row, row + count) of W, at most kChunkRows, times kM rows of x.
template <class Unpack, std::size_t kM>
void multiplyChunk(const Matvec& product, std::size_t m, std::size_t row, std::size_t count) {
    constexpr std::size_t kR = rowsInFlight(kM);
    float out[kM * kChunkRows]; // apart from y, which the epilogue may still have to add
    std::size_t r = 0;
    for (; r + kR <= count; r += kR)
        dotRows<Unpack, kM, kR>(product, m, row + r, out + r);
    for (; r < count; ++r)
        dotRows<Unpack, kM, 1>(product, m, row + r, out + r);

    const Epilogue& e = product.epilogue;
    for (std::size_t i = 0; i < kM; ++i) {
        const std::byte* const addend =
            e.addend == nullptr ? nullptr : e.addend + (m + i) * e.addendStride;
        applyEpilogue(
            e, addend, row, count, out + i * kChunkRows, product.y + (m + i) * product.ldy + row);
    }
}

/// Rows [row, row + count) of W, at most kChunkRows, times all rows of x.
template <class Unpack>
void multiplyRows(const Matvec& product, std::size_t row, std::size_t count) {
    std::size_t m = 0;
    for (; m + 8 <= product.rows; m += 8)
        multiplyChunk<Unpack, 8>(product, m, row, count);
    for (; m + 4 <= product.rows; m += 4)
        multiplyChunk<Unpack, 4>(product, m, row, count);
    for (; m + 2 <= product.rows; m += 2)
        multiplyChunk<Unpack, 2>(product, m, row, count);
    if (m < product.rows)
        multiplyChunk<Unpack, 1>(product, m, row, count);
}

void matvecTask(const Matvec& product, std::size_t row, std::size_t count) {
    withUnpack(product.weights.type, [&](auto unpack) HWY_ATTR {
        for (std::size_t r = 0; r < count; r += kChunkRows)
            multiplyRows<decltype(unpack)>(product, row + r, std::min(kChunkRows, count - r));
    });
}

/// Rows of W for one task: enough bytes to be worth the hand-off, few enough for an even finish.
std::size_t rowsPerTask(const Matvec& product, unsigned threads) {
    constexpr std::size_t kTaskBytes = std::size_t{256} << 10;
    const std::size_t even = product.weights.rows / (4 * threads) + 1;
    const std::size_t fitting = kTaskBytes / (product.weights.rowBytes() + 1) + 1;
    return (std::min(even, fitting) + 7) / 8 * 8;
}

void matvecImpl(ThreadPool& pool, std::span<const Matvec> products) {
    std::size_t tasks = 0;
    for (const Matvec& product : products) {
        const std::size_t rows = rowsPerTask(product, pool.threads());
        tasks += (product.weights.rows + rows - 1) / rows;
    }
    pool.parallelFor(tasks, [&](std::size_t task, unsigned) {
        for (const Matvec& product : products) {
            const std::size_t rows = rowsPerTask(product, pool.threads());
            const std::size_t count = (product.weights.rows + rows - 1) / rows;
            if (task < count) {
                const std::size_t row = task * rows;
                return matvecTask(product, row, std::min(rows, product.weights.rows - row));
            }
            task -= count;
        }
    });
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(matvecImpl);

void matvec(ThreadPool& pool, std::span<const Matvec> products) {
    HWY_DYNAMIC_DISPATCH(matvecImpl)(pool, products);
}

} // namespace shardscope::engine::kernels
#endif
