// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/predicted_summary.h"

#include "sim_engine/sim/virtual_run.h"

namespace shardscope::app {

analyze::Summary
summaryOf(const plan::Plan& plan, const plan::BoardProfile& board, const sim::Workload& workload) {
    trace::Legend kinds; // the builder asks for the kinds of ops alone
    kinds.ops.resize(plan.graph->ops.size());
    for (std::size_t i = 0; i < kinds.ops.size(); ++i)
        kinds.ops[i].kind = plan.graph->ops[i].kind;
    analyze::SummaryBuilder builder(kinds);
    sim::simulateInto(
        plan, board, workload, [&](const trace::Event& event) { builder.add(event); });
    return builder.summary();
}

} // namespace shardscope::app
