// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/workload.h"

namespace shardscope::app {

/// The figures of a simulated run, without a trace of it: what those want who compare thousands.
/// The same as analyze::summarise(sim::simulate(...)). Thread-safe.
analyze::Summary summaryOf(
    const plan::Plan& plan, const plan::BoardProfile& board, const sim::Workload& workload = {});

} // namespace shardscope::app
