// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions without a trace: what a search needs of thousands of runs.
#pragma once

#include "sim_engine/analyze/tune.h"
#include "sim_engine/plan/drafts.h"
#include "sim_engine/sim/workload.h"

namespace shardscope::app {

/// Plans and simulates one configuration; not feasible where it does not fit or is impossible.
/// Thread-safe.
analyze::TuneFigures figuresOf(
    plan::Drafts& drafts, const plan::BoardProfile& board, const sim::Workload& workload,
    const plan::RunConfig& config);

/// figuresOf() on all cores, for analyze::tune(). Returns nothing once `cancelled`, which is asked
/// on other threads, says so.
analyze::Predict simulatedFigures(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const sim::Workload& workload, std::function<bool()> cancelled);

} // namespace shardscope::app
