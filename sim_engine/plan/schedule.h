// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sim_engine/plan/layout.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

/// Writes the steps of the plan: `window`, `cycles` and `cycleOfStep`. Graph, shards, shardOfOp and
/// config are set.
void scheduleSteps(Plan& plan, const Residence& residence, const Layout& layout);

} // namespace shardscope::plan
