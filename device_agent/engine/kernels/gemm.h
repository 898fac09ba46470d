// SPDX-License-Identifier: GPL-3.0-or-later
// Large matrix products of the encoder: C[M, N] = epilogue(A[M, K] * W[N, K]^T), float32.
//
// Each element is one chain of multiply-adds over k = 0 .. K-1, whatever the tiling, the threads
// and the other rows of the call are; so its bits depend on its own inputs alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_agent/engine/kernels/epilogue.h"
#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/kernels/weight_view.h"

namespace shardscope::engine::kernels {

/// How the columns of W belong to the columns of A.
enum class WeightOrder : std::uint8_t {
    Plain, ///< column k of W meets column k of A
    Conv3, ///< W is [N][K/3][3], a ggml convolution with the tap innermost, and a row of A is three
           ///< consecutive time steps: column channel*3 + tap of W meets tap*(K/3) + channel of A
};

/// Layer norm of the rows of A on their way into the product: none where there is no weight.
struct InputNorm {
    const std::byte* weight = nullptr; ///< K float32 at any address
    const std::byte* bias = nullptr;   ///< K float32 at any address
};

/// One product. Rows of A may overlap (lda < K: a convolution read in place). C must not overlap A.
struct Gemm {
    const float* a = nullptr;
    std::size_t rows = 0; ///< M
    std::size_t lda = 0;  ///< floats from row to row of A
    WeightView weights;   ///< [N, K]
    WeightOrder order = WeightOrder::Plain;
    float* c = nullptr;
    std::size_t ldc = 0; ///< floats from row to row of C
    Epilogue epilogue;
    InputNorm norm{}; ///< has the bits of layerNorm() before the product
};

/// A register tile's operands of this depth stay in the level-1 and level-2 caches.
inline constexpr std::size_t kGemmLargestDepth = 640;

/// Steps of k that are worked off at a time: K in equal parts. Later parts resume the chains of the
/// earlier ones.
constexpr std::size_t gemmDepthPerBlock(std::size_t k) {
    const std::size_t blocks = (k + kGemmLargestDepth - 1) / kGemmLargestDepth;
    return blocks <= 1 ? k : ((k + blocks - 1) / blocks + 3) / 4 * 4;
}

/// How much is packed at a time.
struct GemmBlock {
    std::size_t columns = 64; ///< of W, a multiple of 64
    std::size_t rows = 64;    ///< of A, for each worker, at most
};

/// About 1 MiB of packed weights, but not so few columns that packing A for them would count.
constexpr GemmBlock gemmLargestBlock(std::size_t n, std::size_t k) {
    const std::size_t padded = (n + 63) / 64 * 64;
    const std::size_t fitting = (std::size_t{1} << 18) / std::max<std::size_t>(k, 1) / 64 * 64;
    return {std::min(std::max<std::size_t>(fitting, 256), padded), 128};
}

/// Floats of one worker: its packed rows of A, and sums that wait for the next part of K.
constexpr std::size_t gemmWorkerFloats(GemmBlock block, std::size_t k) {
    const std::size_t depth = (gemmDepthPerBlock(k) + 3) / 4 * 4;
    const std::size_t waiting = gemmDepthPerBlock(k) < k ? block.columns : 0;
    return block.rows * (depth + waiting);
}

constexpr std::size_t gemmScratchBytes(GemmBlock block, std::size_t k, unsigned threads) {
    return (block.columns * k + threads * gemmWorkerFloats(block, k)) * sizeof(float) + 256;
}

/// Scratch with which gemm() is at its best for N x K weights; the same on every CPU.
constexpr std::size_t gemmScratchBytes(std::size_t n, std::size_t k, unsigned threads) {
    return gemmScratchBytes(gemmLargestBlock(n, k), k, threads);
}

/// The least that it can do with: A is then packed anew for every 64 columns.
constexpr std::size_t gemmLeastScratchBytes(std::size_t k, unsigned threads) {
    return gemmScratchBytes(GemmBlock{}, k, threads);
}

/// The largest block for which `scratch` bytes suffice, and no larger than is of use.
constexpr GemmBlock gemmBlock(std::size_t n, std::size_t k, unsigned threads, std::size_t scratch) {
    const GemmBlock most = gemmLargestBlock(n, k);
    if (gemmScratchBytes(most, k, threads) <= scratch)
        return most;
    GemmBlock block;
    for (GemmBlock wider = block; wider.columns < most.columns; block = wider) {
        wider.columns += 64;
        if (gemmScratchBytes(wider, k, threads) > scratch)
            break;
    }
    return block;
}

/// Computes one product on all threads of the pool; `scratch` has gemmScratchBytes(N, K, threads),
/// or less, but gemmLeastScratchBytes(K, threads) at least. The result has the same bits.
void gemm(ThreadPool& pool, const Gemm& product, std::span<std::byte> scratch);

} // namespace shardscope::engine::kernels
