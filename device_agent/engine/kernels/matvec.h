// SPDX-License-Identifier: GPL-3.0-or-later
// Products of a few rows with a large matrix (decoding): y[m, n] = epilogue(sum_k x[m, k] W[n, k]).
//
// The weights are unpacked in registers and read from memory once, for up to 8 rows of x at a time.
// Each element is summed in one vector accumulator over ascending k and one fixed sum across lanes,
// whatever M, the threads and the rows of W in the call are; so row m of a call with M > 1 has the
// bits that it has alone.
#pragma once

#include <cstddef>
#include <span>

#include "device_agent/engine/kernels/epilogue.h"
#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/kernels/weight_view.h"

namespace shardscope::engine::kernels {

struct Matvec {
    const float* x = nullptr;
    std::size_t rows = 1; ///< M
    std::size_t ldx = 0;  ///< floats from row to row of x; unused when rows is 1
    WeightView weights;   ///< [N, K]
    float* y = nullptr;
    std::size_t ldy = 0; ///< floats from row to row of y; unused when rows is 1
    Epilogue epilogue;
};

/// Computes the products, which are independent of each other, in one parallel loop (queries, keys
/// and values of a layer, say). No output may overlap an input of the call, but for an addend that
/// is the very output.
void matvec(ThreadPool& pool, std::span<const Matvec> products);

inline void matvec(ThreadPool& pool, const Matvec& product) {
    matvec(pool, std::span(&product, 1));
}

} // namespace shardscope::engine::kernels
