// SPDX-License-Identifier: GPL-3.0-or-later
// Working space that the engine's kernels may use, known to the planner, which gives it its place
// in the arena. The kernels' own size functions must stay within these bounds; a test holds them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim_engine/base/units.h"

namespace shardscope::model {

/// Packed columns of a weight matrix with `inner` columns of its own, and for each thread packed
/// rows of the activations with the sums that wait for the next part of K.
constexpr base::Bytes
productScratch(std::int64_t columns, std::int64_t rows, std::int64_t inner, std::int64_t threads) {
    const std::int64_t parts = (inner + 639) / 640;
    const std::int64_t depth = (inner + parts - 1) / parts + 7;
    const std::int64_t waiting = parts > 1 ? columns : 0;
    return base::Bytes((columns * inner + threads * rows * (depth + waiting)) * 4 + 256);
}

/// A product with an [outer, inner] weight matrix at full speed: 1 MiB of packed columns, at least
/// 256 of them, and 128 rows for each thread.
constexpr base::Bytes matMulScratch(std::int64_t outer, std::int64_t inner, std::int64_t threads) {
    const std::int64_t all = (outer + 63) / 64 * 64;
    const std::int64_t columns =
        std::min(std::max<std::int64_t>((1 << 18) / inner / 64 * 64, 256), all);
    return productScratch(columns, 128, inner, threads);
}

/// The least with which it can be done: 64 columns, and 64 rows for each thread.
constexpr base::Bytes matMulLeastScratch(std::int64_t inner, std::int64_t threads) {
    return productScratch(64, 64, inner, threads);
}

/// Encoder attention: one packed head, and for each thread a tile of 32 query rows with its scores.
constexpr base::Bytes
attentionScratch(std::int64_t positions, std::int64_t headDim, std::int64_t threads) {
    const std::int64_t padded = (positions + 79) / 64 * 64, dims = (headDim + 63) / 64 * 64;
    return base::Bytes((2 * padded * dims + threads * 32 * (padded + 2 * dims + 64)) * 4 + 256);
}

/// Decode attention: the scores of one head for each thread.
constexpr base::Bytes decodeAttentionScratch(std::int64_t positions, std::int64_t threads) {
    return base::Bytes(threads * ((positions + 63) / 64 * 64) * 4 + 256);
}

/// Attention to the shared encoder output: scores, absorbed query and mixed value of every head.
constexpr base::Bytes
sharedAttentionScratch(std::int64_t positions, std::int64_t width, std::int64_t heads) {
    return base::Bytes(heads * (2 * width + (positions + 63) / 64 * 64) * 4 + 256);
}

/// The mel front end: samples, transform and one frame of energies for each thread.
constexpr base::Bytes melScratch(std::int64_t threads) {
    return base::kibibytes(32) * threads;
}

/// Positions for which a KV cache has room: whole blocks of 16.
constexpr std::int64_t paddedPositions(std::int64_t positions) {
    return (positions + 15) / 16 * 16;
}

} // namespace shardscope::model
