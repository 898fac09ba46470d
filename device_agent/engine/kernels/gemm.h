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

/// Columns of W that are packed at a time: about 1 MiB of float32, but not so few that packing A
/// for them would count.
constexpr std::size_t gemmColumnsPerBlock(std::size_t n, std::size_t k) {
    const std::size_t padded = (n + 63) / 64 * 64;
    const std::size_t fitting = (std::size_t{1} << 18) / std::max<std::size_t>(k, 1) / 64 * 64;
    return std::min(std::max<std::size_t>(fitting, 256), padded);
}

/// Rows of A that a worker packs at a time, at most.
inline constexpr std::size_t kGemmRowsPerBlock = 128;

/// Floats of one worker: its packed rows of A, and sums that wait for the next part of K.
constexpr std::size_t gemmWorkerFloats(std::size_t n, std::size_t k) {
    const std::size_t depth = (gemmDepthPerBlock(k) + 3) / 4 * 4;
    const std::size_t waiting = gemmDepthPerBlock(k) < k ? gemmColumnsPerBlock(n, k) : 0;
    return kGemmRowsPerBlock * (depth + waiting);
}

/// Scratch that gemm() needs for N x K weights; the same on every CPU.
constexpr std::size_t gemmScratchBytes(std::size_t n, std::size_t k, unsigned threads) {
    return (gemmColumnsPerBlock(n, k) * k + threads * gemmWorkerFloats(n, k)) * sizeof(float) + 256;
}

/// Computes one product on all threads of the pool; `scratch` has gemmScratchBytes(N, K, threads).
void gemm(ThreadPool& pool, const Gemm& product, std::span<std::byte> scratch);

} // namespace shardscope::engine::kernels
