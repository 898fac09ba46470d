// SPDX-License-Identifier: GPL-3.0-or-later
// The gap to physics: what a run would take if storage, memory or compute were all that it had to
// wait for, at the rates of its board, against what it took.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::analyze {

enum class Bound : std::uint8_t { Storage, Memory, Compute };

/// "I/O bound", "memory bound", "compute bound".
std::string_view boundText(Bound bound);

/// Times of one pass, or of a run, in ms.
struct Limits {
    double took = 0;    ///< by the trace
    double stalled = 0; ///< of it, waiting for reads
    double storage = 0; ///< its reads at the storage's rate for large reads, without latency
    double memory = 0;  ///< its bytes (weights, KV) at the memory bandwidth of its threads
    double compute = 0; ///< its operations at the rate of its threads
    double roof = 0;    ///< op by op the longer of memory and compute, added up

    /// Nothing runs faster than this: reads may hide behind ops wholly, but not both be shorter.
    double floor() const { return storage > roof ? storage : roof; }
    Bound bound() const;
    /// took / floor - 1; below 0 where reads came from a cache; 0 where nothing was to do.
    double gap() const { return floor() > 0 ? took / floor() - 1 : 0; }
};

struct RunLimits {
    std::array<Limits, model::kPassCount> passes; ///< by PassKind; sums over windows and tokens
    Limits run;
    std::int64_t decodeSteps = 0;

    const Limits& of(model::PassKind pass) const { return passes[static_cast<std::size_t>(pass)]; }
};

/// `trace` is a run of `plan`, measured or simulated; `board` gives the rates. BadInput where the
/// trace was made by another plan, whose ops would have other numbers. Thread-safe. In a batch the
/// rows of a decode step are those at its begin, so sequences that end early count to the end.
base::Result<RunLimits>
limitsOf(const trace::Trace& trace, const plan::Plan& plan, const plan::BoardProfile& board);

} // namespace shardscope::analyze
