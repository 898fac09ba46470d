// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's own kernels on the shapes of Whisper layers, one thread or several. Each function
// measures once and gives the seconds of a call and the operations in it, counted as the planner
// counts them.
#pragma once

#include <vector>

#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/thread_pool.h"
#include "sim_engine/model/dtype.h"
#include "sim_engine/model/kv_type.h"

namespace shardscope::probes {

struct Work {
    double seconds = 0;
    double operations = 0;

    double rate() const { return operations / seconds; }
};

/// Operands that the measurements share: allocated once, of `streamBytes` in all for what must not
/// fit into the caches.
class KernelRates {
public:
    using DType = model::DType;
    using Pool = engine::kernels::ThreadPool;
    using Gemm = engine::kernels::Gemm;

    KernelRates(unsigned mostThreads, std::size_t streamBytes);

    /// A product of many rows, of depths 384 and 512, or 1536 and 2048 (deep).
    Work product(Pool& pool, DType type, bool isDeep);
    Work convolution(Pool& pool, DType type);
    /// `rows` rows with matrices that fit into the caches, or with all of the stream.
    Work matvec(Pool& pool, DType type, std::size_t rows, bool streamed);
    Work encodeAttention(Pool& pool);
    /// One row to 1500 positions; streamed: of one layer's cache after the other.
    Work decodeAttention(Pool& pool, model::KvType type, bool streamed);
    Work sharedAttention(Pool& pool, DType type);
    Work layerNorm(Pool& pool);
    Work rowGather(Pool& pool, DType type);

    /// One row with all of the stream as f16 matrices.
    void stream(Pool& pool);
    /// For what threads gain: the quickest of many short calls by the clock on the wall. Seconds of
    /// an f16 product, and of stream().
    double shortProduct(Pool& pool);
    double streamSeconds(Pool& pool);
    /// The same by what each of `threads` had of the processor, when all do it at once and each for
    /// itself: what they take from each other in memory and clock, whatever else is running.
    double productBeside(unsigned threads);
    double streamBeside(unsigned threads);
    double streamBytes() const; ///< that stream() passes over

    /// Seconds that a loop with a task for each thread takes beside the tasks.
    static double handOff(Pool& pool);
    /// Seconds beside the work of an op that is handed to nobody: the clock and its event.
    static double opAlone();
    /// Seconds of choosing a token from a vocabulary of 51864.
    double choice();

private:
    std::size_t rowsFor(std::size_t depth);
    Gemm shortGemm();

    std::vector<std::byte> m_stream;
    std::vector<float> m_in, m_out; ///< activations
    std::vector<std::byte> m_scratch;
    std::size_t m_rows = 0; ///< of products: fewer on slow boards
};

} // namespace shardscope::probes
