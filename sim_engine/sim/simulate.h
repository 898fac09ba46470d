// SPDX-License-Identifier: GPL-3.0-or-later
// Performs a plan on a virtual clock: the same steps as the engine, the same events, other times.
// virtual_run.h gives the events one by one, to those who want no trace of them.
#pragma once

#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/workload.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::sim {

/// The events of a run of `plan` on `board`. Thread-safe.
trace::Trace
simulate(const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload = {});

} // namespace shardscope::sim
