// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/policy_costs.h"

#include <utility>

namespace shardscope::app {

using namespace std::chrono_literals;

namespace {

constexpr plan::Policy kPolicies[] = {
    plan::Policy::Pin, plan::Policy::Lru, plan::Policy::Mru, plan::Policy::Random,
    plan::Policy::Belady};

} // namespace

PolicyCosts::PolicyCosts(JobRunner* jobs, WhatIf* whatIf, QObject* parent)
    : QObject(parent), m_jobs(jobs), m_whatIf(whatIf) {
    static quint64 count = 0;
    m_kind = QStringLiteral("policies %1").arg(++count);
    m_rest.setSingleShot(true);
    m_rest.setInterval(120ms);
    connect(&m_rest, &QTimer::timeout, this, &PolicyCosts::launch);
    connect(m_whatIf, &WhatIf::configChanged, this, &PolicyCosts::invalidate);
    connect(m_whatIf, &WhatIf::baselineChanged, this, &PolicyCosts::invalidate);
}

void PolicyCosts::setWanted(bool wanted) {
    if (std::exchange(m_wanted, wanted) || !wanted || m_current)
        return;
    launch();
}

void PolicyCosts::invalidate() {
    m_current = false;
    m_jobs->cancel(m_kind);
    if (m_wanted)
        m_rest.start();
}

void PolicyCosts::launch() {
    if (!m_wanted)
        return;
    if (!m_whatIf->isReady()) {
        m_costs.clear();
        return emit costsChanged();
    }
    m_jobs->start(
        m_kind,
        [this, card = m_whatIf->card(), config = m_whatIf->config(), board = m_whatIf->board(),
         workload = m_whatIf->workload()](JobControl& job) mutable -> JobRunner::Deliver {
            std::vector<Prediction> costs;
            for (const plan::Policy policy : kPolicies) {
                if (job.isCancelled())
                    return {};
                config.policy = policy;
                costs.push_back(predict(card, config, board, workload));
                costs.back().trace.reset(); // figures are all that is shown
            }
            return [this, costs = std::move(costs)]() mutable {
                m_costs = std::move(costs);
                m_current = true;
                emit costsChanged();
            };
        });
}

} // namespace shardscope::app
