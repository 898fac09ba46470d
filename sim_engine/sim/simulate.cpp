// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/sim/simulate.h"

#include "sim_engine/sim/virtual_run.h"

namespace shardscope::sim {

trace::Trace
simulate(const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload) {
    trace::Trace trace;
    trace.legend = plan::legendOf(plan);
    constexpr std::int32_t kMostReserved = 1024; // tokens; more grow the list as it goes
    const auto tokens = static_cast<std::size_t>(std::min(
        workload.tokens > 0 ? workload.tokens : kMostReserved,
        std::min(plan.config.maxTokens, kMostReserved)));
    trace.events.reserve(plan.window.size() * 2 + tokens * (plan.graph->ops.size() + 64) * 5 / 4);
    simulateInto(
        plan, board, workload, [&](const trace::Event& event) { trace.events.push_back(event); });
    trace.complete = true;
    return trace;
}

} // namespace shardscope::sim
