// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/closing.h"

namespace shardscope::plan {
namespace {

/// Keeps the steps that took something and were not undone.
class Held {
public:
    void apply(const std::vector<Step>& steps) {
        for (const Step& step : steps) {
            if (step.kind == StepKind::Load || step.kind == StepKind::Alloc)
                m_steps.push_back(step);
            else if (step.kind != StepKind::Compute)
                std::erase_if(m_steps, [&](const Step& taken) {
                    return taken.block == step.block && taken.id == step.id;
                });
        }
    }
    std::vector<Step> undone() const {
        std::vector<Step> steps;
        for (const Step& taken : m_steps) {
            if (taken.firstWindowOnly)
                continue;
            const bool weights = taken.kind == StepKind::Load;
            steps.push_back(
                {weights ? StepKind::Evict : StepKind::Free, false, false, Reason::PhaseEnded,
                 taken.id, taken.block});
        }
        return steps;
    }

private:
    std::vector<Step> m_steps;
};

} // namespace

std::vector<Step> closingSteps(const Plan& plan, std::int32_t lastStep) {
    Held held;
    held.apply(plan.window);
    for (std::int32_t step = 1; step <= lastStep; ++step)
        held.apply(plan.stepsOf(step));
    return held.undone();
}

} // namespace shardscope::plan
