// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QObject>
#include <QPointer>
#include <QTimer>

#include "app/jobs/job_runner.h"
#include "sim_engine/analyze/run_index.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/simulate.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::app {

class RunDocument;

/// One configuration, planned and simulated. Immutable once it is made.
struct Prediction {
    plan::RunConfig config;
    std::shared_ptr<const plan::Plan> plan;     ///< null where it does not fit or is impossible
    std::shared_ptr<const trace::Trace> trace;  ///< null likewise
    /// What the views need of the trace; null where nobody asked for it.
    std::shared_ptr<const analyze::RunIndex> index;
    std::optional<plan::Infeasible> infeasible; ///< why it does not fit
    std::optional<base::Error> error;           ///< why it is impossible
    analyze::Summary summary;
};

/// Plans and simulates. Pure, thread-safe.
Prediction predict(
    const std::shared_ptr<const model::ModelCard>& card, const plan::RunConfig& config,
    const plan::BoardProfile& board, const sim::Workload& workload);

/// As many windows and tokens as the run has had, at least one of each.
sim::Workload workloadOf(const RunDocument& document);

/// "What if": the baseline configuration and a changed one, with what is predicted for both.
/// GUI thread only. Planning, simulating and indexing happen on a worker, one at a time: while a
/// slider moves, each finished prediction is shown, and once it is painted the newest values are
/// taken next, so the last one shown is always that of config(). Results for another run are
/// dropped.
class WhatIf : public QObject {
    Q_OBJECT
public:
    explicit WhatIf(JobRunner* jobs, QObject* parent = nullptr);

    /// Follows a measured run: its config becomes the baseline, its tokens and windows the
    /// workload.
    void setDocument(RunDocument* document);
    /// Plans without a run.
    void setPlanning(
        std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
        const plan::RunConfig& baseline, const sim::Workload& workload = {});
    /// Predicts for another board than the run's.
    void setBoard(const plan::BoardProfile& board);

    /// There is a model and a board to predict with. A run without a board profile has none.
    bool isReady() const { return m_card != nullptr && m_board.readBytesPerSecond > 0; }
    const std::shared_ptr<const model::ModelCard>& card() const { return m_card; }
    const plan::BoardProfile& board() const { return m_board; }
    const sim::Workload& workload() const { return m_workload; }

    const plan::RunConfig& config() const { return m_config; }
    const plan::RunConfig& baseline() const { return m_baselineConfig; }
    bool isChanged() const { return !(m_config == m_baselineConfig); }
    void setConfig(const plan::RunConfig& config);
    /// Back to the baseline.
    void reset() { setConfig(m_baselineConfig); }

    /// The newest prediction; its config may be a moment older than config().
    const Prediction& prediction() const { return m_prediction; }
    /// The prediction of the baseline, with which figures are compared.
    const Prediction& baselinePrediction() const { return m_baseline; }
    /// No newer prediction is on its way.
    bool isCurrent() const { return m_upToDate; }

    /// Null where the configuration does not fit.
    std::shared_ptr<const trace::Trace> predicted() const { return m_prediction.trace; }
    std::shared_ptr<const plan::Plan> predictedPlan() const { return m_prediction.plan; }
    const analyze::Summary& predictedSummary() const { return m_prediction.summary; }
    const analyze::Summary& baselineSummary() const { return m_baseline.summary; }
    /// Figures of the measured run; empty without one.
    analyze::Summary measuredSummary() const;
    const std::optional<plan::Infeasible>& infeasible() const { return m_prediction.infeasible; }
    const std::optional<base::Error>& error() const { return m_prediction.error; }

signals:
    void configChanged();
    /// Baseline, card, board or workload are others now.
    void baselineChanged();
    void predictionChanged();

private:
    void followDocument();
    void learnFromRun();
    void followTokens();
    void takeSource(
        std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
        const plan::RunConfig& baseline, const sim::Workload& workload);
    void invalidate(bool baselineToo);
    void schedule();
    void launch();
    void publish(std::uint64_t revision, std::optional<Prediction> baseline, Prediction changed);

    JobRunner* m_jobs;
    QPointer<RunDocument> m_document;
    std::shared_ptr<const model::ModelCard> m_card;
    plan::BoardProfile m_board;
    sim::Workload m_workload;
    plan::RunConfig m_baselineConfig, m_config;
    Prediction m_baseline, m_prediction;
    std::uint64_t m_revision = 0; ///< of config()
    QString m_kind;               ///< of this object's jobs
    bool m_baselineStale = false;
    bool m_upToDate = true;
    QTimer m_next, m_tokenPoll;
};

} // namespace shardscope::app
