// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/gemm.h"

#include "device_agent/engine/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/gemm.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/epilogue-inl.h"
#include "device_agent/engine/kernels/tile-inl.h"
#include "device_agent/engine/kernels/unpack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// Packs columns [first, first + kTileCols) of W^T (zeros beyond N) as [k][kTileCols], in the order
/// in which a row of A has them.
template <class Unpack>
void packPanel(const Gemm& product, std::size_t first, float* packed) {
    constexpr std::size_t kChunk = 48; // whole vectors, and whole taps of a convolution
    const WeightView& w = product.weights;
    const std::size_t depth = w.cols;
    const std::size_t valid = std::min(kTileCols, w.rows - first);
    HWY_ALIGN float chunk[kTileCols * kChunk] = {};
    for (std::size_t k = 0; k < depth; k += kChunk) {
        const std::size_t count = std::min(kChunk, depth - k);
        for (std::size_t n = 0; n < valid; ++n)
            unpackRange<Unpack>(w.row(first + n), k, count, chunk + n * kChunk);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t column = k + i;
            const std::size_t target = product.order == WeightOrder::Plain
                                           ? column
                                           : column % 3 * (depth / 3) + column / 3;
            float* const to = packed + target * kTileCols;
            for (std::size_t n = 0; n < kTileCols; ++n)
                to[n] = chunk[n * kChunk + i];
        }
    }
}

/// Rows [row, row + rows) times the packed columns [column, column + columns).
void multiplyBlock(
    const Gemm& product, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
    const float* panels, float* packedA) {
    const std::size_t depth = product.weights.cols;
    const std::size_t paddedDepth = (depth + 3) / 4 * 4;
    for (std::size_t r = 0; r < rows; r += kTileRows)
        packQuads<kTileRows>(
            product.a + (row + r) * product.lda, product.lda, std::min(kTileRows, rows - r), depth,
            packedA + r * paddedDepth);

    HWY_ALIGN float tile[kTileRows * kTileCols];
    for (std::size_t n = 0; n < columns; n += kTileCols) {
        const std::size_t width = std::min(kTileCols, columns - n);
        for (std::size_t r = 0; r < rows; r += kTileRows) {
            tileProduct<kTileRows>(
                depth, packedA + r * paddedDepth, QuadsOfK<kTileRows>(), panels + n * depth,
                kTileCols, tile, kTileCols, false);
            for (std::size_t i = 0; i < std::min(kTileRows, rows - r); ++i) {
                const std::size_t m = row + r + i;
                const Epilogue& e = product.epilogue;
                const std::byte* const addend =
                    e.addend == nullptr ? nullptr : e.addend + m * e.addendStride;
                applyEpilogue(
                    e, addend, column + n, width, tile + i * kTileCols,
                    product.c + m * product.ldc + column + n);
            }
        }
    }
}

void gemmImpl(ThreadPool& pool, const Gemm& product, std::span<std::byte> scratch) {
    const std::size_t n = product.weights.rows;
    const std::size_t depth = product.weights.cols;
    const std::size_t paddedDepth = (depth + 3) / 4 * 4;
    const std::size_t blockColumns = gemmColumnsPerBlock(n, depth);
    // Small enough blocks of rows that the threads finish together.
    const std::size_t share = product.rows / (4 * pool.threads()) + 1;
    const std::size_t blockRows = std::max<std::size_t>(
        std::min(gemmRowsPerBlock(depth), share) / kTileRows * kTileRows, kTileRows);
    const std::size_t rowBlocks = (product.rows + blockRows - 1) / blockRows;

    ScratchFloats floats(scratch);
    float* const panels = floats.take(blockColumns * paddedDepth);
    float* const packedA = floats.take(pool.threads() * gemmRowsPerBlock(depth) * paddedDepth);

    for (std::size_t column = 0; column < n; column += blockColumns) {
        const std::size_t columns = std::min(blockColumns, n - column);
        withUnpack(product.weights.type, [&](auto unpack) HWY_ATTR {
            pool.parallelFor(
                (columns + kTileCols - 1) / kTileCols, [&](std::size_t panel, unsigned) {
                    const std::size_t at = panel * kTileCols;
                    packPanel<decltype(unpack)>(product, column + at, panels + at * depth);
                });
        });
        pool.parallelFor(rowBlocks, [&](std::size_t block, unsigned worker) {
            const std::size_t row = block * blockRows;
            multiplyBlock(
                product, row, std::min(blockRows, product.rows - row), column, columns, panels,
                packedA + worker * gemmRowsPerBlock(depth) * paddedDepth);
        });
    }
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(gemmImpl);

void gemm(ThreadPool& pool, const Gemm& product, std::span<std::byte> scratch) {
    HWY_DYNAMIC_DISPATCH(gemmImpl)(pool, product, scratch);
}

} // namespace shardscope::engine::kernels
#endif
