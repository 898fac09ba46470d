// SPDX-License-Identifier: GPL-3.0-or-later
// Performs a plan on a virtual clock: the same steps as the engine, the same events, other times.
#pragma once

#include <cstdint>

#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::sim {

/// What of a run the plan leaves open.
struct Workload {
    std::int32_t tokens = 0;  ///< tokens of each window; 0: as many as the plan allows
    std::int32_t windows = 1; ///< 30 s windows of audio
};

/// The events of a run of `plan` on `board`. Thread-safe.
trace::Trace
simulate(const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload = {});

} // namespace shardscope::sim
