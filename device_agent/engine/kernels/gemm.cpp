// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/gemm.h"

#include "device_agent/engine/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/gemm.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/epilogue-inl.h"
#include "device_agent/engine/kernels/layer_norm-inl.h"
#include "device_agent/engine/kernels/tile-inl.h"
#include "device_agent/engine/kernels/unpack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// Packs columns [first, first + kTileCols) of W^T (zeros beyond N) as [k][kTileCols], in the order
/// in which a row of A has them.
template <class Unpack>
void packPanel(const Gemm& product, std::size_t first, float* packed) {
    constexpr std::size_t kChunk = 96; // whole blocks, and whole taps of a convolution
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

/// A rectangle of C, the packed columns of W for it, and what its worker works in.
struct Block {
    std::size_t row, rows;
    std::size_t column, columns;
    std::size_t lds; ///< floats from row to row of `sums`
    const float* panels;
    float* packedA;       ///< [tile of kTileRows rows], QuadsOfK
    float* sums;          ///< [rows][columns], between the parts of K
    const RowNorm* norms; ///< of the rows, where they are normed
};

void finishTile(
    const Gemm& product, std::size_t row, std::size_t rows, std::size_t column, std::size_t width,
    const float* sums, std::size_t lds) {
    const Epilogue& e = product.epilogue;
    for (std::size_t m = row; m < row + rows; ++m) {
        const std::byte* const addend =
            e.addend == nullptr ? nullptr : e.addend + m * e.addendStride;
        applyEpilogue(
            e, addend, column, width, sums + (m - row) * lds, product.c + m * product.ldc + column);
    }
}

/// Packs steps [k, k + depth) of the rows of a tile, normed where that is asked for.
void packRows(
    const Gemm& product, const Block& block, std::size_t r, std::size_t k, std::size_t depth,
    float* packed) {
    const std::size_t valid = std::min(kTileRows, block.rows - r);
    const float* const rows = product.a + (block.row + r) * product.lda;
    if (product.norm.weight == nullptr)
        return packQuads<kTileRows>(rows + k, product.lda, valid, depth, packed);
    HWY_ALIGN float normed[kTileRows * kGemmLargestDepth];
    for (std::size_t i = 0; i < valid; ++i)
        normRange(
            rows + i * product.lda, k, depth, block.norms[r + i], product.norm.weight,
            product.norm.bias, normed + i * depth);
    packQuads<kTileRows>(normed, depth, valid, depth, packed);
}

/// Steps [k, k + depth) of all elements of the block.
void multiplySteps(const Gemm& product, const Block& block, std::size_t k, std::size_t depth) {
    const std::size_t paddedDepth = (depth + 3) / 4 * 4;
    const std::size_t wholeDepth = product.weights.cols;
    const bool last = k + depth == wholeDepth;
    const bool only = depth == wholeDepth;
    for (std::size_t r = 0; r < block.rows; r += kTileRows)
        packRows(product, block, r, k, depth, block.packedA + r * paddedDepth);

    HWY_ALIGN float tile[kTileRows * kTileCols];
    const std::size_t lds = only ? kTileCols : block.lds;
    for (std::size_t n = 0; n < block.columns; n += kTileCols) {
        const std::size_t width = std::min(kTileCols, block.columns - n);
        const float* const panel = block.panels + n * wholeDepth + k * kTileCols;
        for (std::size_t r = 0; r < block.rows; r += kTileRows) {
            float* const sums = only ? tile : block.sums + r * lds + n;
            tileProduct<kTileRows>(
                depth, block.packedA + r * paddedDepth, QuadsOfK<kTileRows>(), panel, kTileCols,
                sums, lds, k != 0);
            if (last)
                finishTile(
                    product, block.row + r, std::min(kTileRows, block.rows - r), block.column + n,
                    width, sums, lds);
        }
    }
}

void packColumns(
    ThreadPool& pool, const Gemm& product, std::size_t column, std::size_t columns, float* panels) {
    withUnpack(product.weights.type, [&](auto unpack) HWY_ATTR {
        const std::size_t count = (columns + kTileCols - 1) / kTileCols;
        pool.parallelFor(count, [&](std::size_t panel, unsigned) {
            const std::size_t at = panel * kTileCols;
            packPanel<decltype(unpack)>(product, column + at, panels + at * product.weights.cols);
        });
    });
}

/// Rows of a task: a multiple of the tile's, and few enough for the threads to finish together.
std::size_t rowsPerTask(std::size_t rows, std::size_t largest, unsigned threads) {
    const std::size_t share = rows / (4 * threads) + 1;
    const std::size_t most = std::min(largest, share) / kTileRows * kTileRows;
    return std::max(most, kTileRows);
}

void gemmImpl(ThreadPool& pool, const Gemm& product, std::span<std::byte> scratch) {
    const std::size_t n = product.weights.rows;
    const std::size_t depth = product.weights.cols;
    const GemmBlock most = gemmBlock(n, depth, pool.threads(), scratch.size());
    const std::size_t blockDepth = gemmDepthPerBlock(depth);
    const std::size_t paddedDepth = (blockDepth + 3) / 4 * 4;
    const std::size_t rows = rowsPerTask(product.rows, most.rows, pool.threads());

    ScratchFloats floats(scratch);
    float* const panels = floats.take(most.columns * depth);
    float* const workers = floats.take(pool.threads() * gemmWorkerFloats(most, depth));
    for (std::size_t column = 0; column < n; column += most.columns) {
        const std::size_t columns = std::min(most.columns, n - column);
        packColumns(pool, product, column, columns, panels);
        pool.parallelFor((product.rows + rows - 1) / rows, [&](std::size_t task, unsigned worker) {
            float* const own = workers + worker * gemmWorkerFloats(most, depth);
            const std::size_t row = task * rows;
            RowNorm norms[gemmLargestBlock(1, 1).rows];
            const Block block{
                row, std::min(rows, product.rows - row), column, columns, most.columns, panels,
                own, own + most.rows * paddedDepth,      norms};
            for (std::size_t r = 0; product.norm.weight != nullptr && r < block.rows; ++r)
                norms[r] = normOf(product.a + (row + r) * product.lda, depth);
            for (std::size_t k = 0; k < depth; k += blockDepth)
                multiplySteps(product, block, k, std::min(blockDepth, depth - k));
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
