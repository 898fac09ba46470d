// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/what_if.h"

#include <algorithm>
#include <utility>

#include "app/replay/run_document.h"
#include "app/replay/run_observation.h"

namespace shardscope::app {

using namespace std::chrono_literals;

namespace {

/// predict(), and what the views need of it: made here, it costs the GUI thread nothing.
Prediction predictForViews(
    const std::shared_ptr<const model::ModelCard>& card, const plan::RunConfig& config,
    const plan::BoardProfile& board, const sim::Workload& workload) {
    Prediction p = predict(card, config, board, workload);
    if (p.trace) {
        auto index = std::make_shared<analyze::RunIndex>();
        index->update(*p.trace);
        p.index = std::move(index);
    }
    return p;
}

} // namespace

Prediction predict(
    const std::shared_ptr<const model::ModelCard>& card, const plan::RunConfig& config,
    const plan::BoardProfile& board, const sim::Workload& workload) {
    Prediction p;
    p.config = config;
    auto planned = plan::plan(card, config, board);
    if (!planned) {
        p.error = planned.error();
    } else if (auto* why = std::get_if<plan::Infeasible>(&*planned)) {
        p.infeasible = std::move(*why);
    } else {
        p.plan = std::make_shared<const plan::Plan>(std::get<plan::Plan>(std::move(*planned)));
        p.trace = std::make_shared<const trace::Trace>(sim::simulate(*p.plan, board, workload));
        p.summary = analyze::summarise(*p.trace);
    }
    return p;
}

sim::Workload workloadOf(const RunDocument& document) {
    sim::Workload seen;
    seen.windows = std::max(1, document.windows());
    seen.tokens = std::max(1, (document.tokens() + seen.windows - 1) / seen.windows);
    if (document.content().isCold())
        seen.isWarm = false;
    return seen;
}

WhatIf::WhatIf(JobRunner* jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
    static quint64 count = 0;
    m_kind = QStringLiteral("what-if %1").arg(++count);
    m_next.setSingleShot(true);
    m_next.setInterval(0);
    connect(&m_next, &QTimer::timeout, this, &WhatIf::launch);
    m_tokenPoll.setSingleShot(true);
    m_tokenPoll.setInterval(250ms);
    connect(&m_tokenPoll, &QTimer::timeout, this, &WhatIf::followTokens);
}

void WhatIf::setDocument(RunDocument* document) {
    if (m_document)
        m_document->disconnect(this);
    m_document = document;
    if (!document)
        return takeSource(nullptr, {}, {}, {});
    connect(document, &RunDocument::stateChanged, this, &WhatIf::followDocument);
    connect(document, &RunDocument::eventsAppended, this, [this] {
        if (!m_tokenPoll.isActive())
            m_tokenPoll.start();
    });
    followDocument();
}

void WhatIf::setPlanning(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const plan::RunConfig& baseline, const sim::Workload& workload) {
    if (m_document)
        m_document->disconnect(this);
    m_document = nullptr;
    takeSource(std::move(card), board, baseline, workload);
}

void WhatIf::setBoard(const plan::BoardProfile& board) {
    m_board = board;
    invalidate(true);
    emit baselineChanged();
}

void WhatIf::followDocument() {
    if (m_document->card() && m_document->card() == m_card) {
        learnFromRun(); // it only ended
        return followTokens();
    }
    const sim::Workload one{1, 1};
    if (m_document->card())
        takeSource(m_document->card(), m_document->board(), m_document->config(), one);
    else
        takeSource(nullptr, {}, {}, {});
    learnFromRun();
    if (m_card)
        followTokens();
}

/// A whole run tells what its ops and reads take: predictions then change only what a knob changes.
void WhatIf::learnFromRun() {
    if (!isReady() || m_document->state() != RunDocument::State::Done ||
        m_board.name != m_document->board().name)
        return;
    const auto seen = observationOf(m_document->content(), m_board, {});
    if (!seen)
        return; // of another version, or torn: the profile has to do
    if (auto fit = analyze::calibrate({&*seen}, m_board))
        setBoard(fit->board);
}

/// Predicts as many tokens as were measured, so that the two lie over each other.
void WhatIf::followTokens() {
    if (!m_document || !m_card)
        return;
    const sim::Workload seen = workloadOf(*m_document);
    if (seen.tokens == m_workload.tokens && seen.windows == m_workload.windows)
        return;
    m_workload = seen;
    invalidate(true);
    emit baselineChanged();
}

void WhatIf::takeSource(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const plan::RunConfig& baseline, const sim::Workload& workload) {
    m_jobs->cancel(m_kind);
    m_card = std::move(card);
    m_board = board;
    m_workload = workload;
    m_baselineConfig = m_config = baseline;
    m_baseline = m_prediction = {};
    invalidate(true);
    emit baselineChanged();
    emit configChanged();
    emit predictionChanged();
}

void WhatIf::setConfig(const plan::RunConfig& config) {
    if (config == m_config)
        return;
    m_config = config;
    invalidate(false);
    emit configChanged();
}

void WhatIf::invalidate(bool baselineToo) {
    ++m_revision;
    m_upToDate = !isReady();
    m_baselineStale |= baselineToo;
    if (baselineToo)
        m_jobs->cancel(m_kind); // what it works on is no longer asked for
    if (isReady() && !m_jobs->isRunning(m_kind))
        schedule();
}

/// When the event loop has nothing else to do: what was published before is painted by then, and
/// moves that came in meanwhile are taken together.
void WhatIf::schedule() {
    if (!m_next.isActive())
        m_next.start();
}

analyze::Summary WhatIf::measuredSummary() const {
    return m_document ? m_document->summary() : analyze::Summary();
}

void WhatIf::launch() {
    if (!isReady() || m_jobs->isRunning(m_kind))
        return; // publish() looks again
    const bool both = m_baselineStale;
    m_jobs->start(
        m_kind,
        [this, both, card = m_card, board = m_board, workload = m_workload,
         first = m_baselineConfig, changed = m_config,
         revision = m_revision](JobControl& job) -> JobRunner::Deliver {
            std::optional<Prediction> baseline;
            if (both)
                baseline = predictForViews(card, first, board, workload);
            if (job.isCancelled())
                return {};
            Prediction p = baseline && changed == first
                               ? *baseline
                               : predictForViews(card, changed, board, workload);
            return [this, revision, baseline = std::move(baseline), p = std::move(p)] {
                publish(revision, baseline, p);
            };
        });
}

void WhatIf::publish(
    std::uint64_t revision, std::optional<Prediction> baseline, Prediction changed) {
    if (baseline) {
        m_baseline = std::move(*baseline);
        m_baselineStale = false;
    }
    m_prediction = std::move(changed);
    m_upToDate = revision == m_revision;
    if (!m_upToDate)
        schedule();
    emit predictionChanged();
}

} // namespace shardscope::app
