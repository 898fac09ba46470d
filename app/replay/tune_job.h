// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <QObject>
#include <QPointer>

#include "app/jobs/job_runner.h"
#include "sim_engine/analyze/tune.h"
#include "sim_engine/sim/simulate.h"

namespace shardscope::app {

/// The search for the best settings, on workers, with the front as it grows. GUI thread only. What
/// has been found stays when it is cancelled; a new start() replaces it.
///
///     connect(&tune, &TuneJob::frontChanged, ...);   // tune.result().front: peak rises, ms/token
///     falls tune.start(whatIf.card(), whatIf.board(), {.start = whatIf.config(), .fixed = {"kv"}},
///                whatIf.workload());
///     whatIf.setConfig(tune.result().front[i].config);
class TuneJob : public QObject {
    Q_OBJECT
public:
    explicit TuneJob(JobRunner* jobs, QObject* parent = nullptr);
    ~TuneJob() override;

    void start(
        std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
        const analyze::TuneQuestion& question, const sim::Workload& workload);
    void cancel();
    bool isRunning() const { return m_running; }
    /// 0..1
    double progress() const { return m_progress; }
    /// The best so far; `why` of its points comes with the end.
    const analyze::TuneResult& result() const { return m_result; }

signals:
    void progressChanged(double share);
    void frontChanged();
    /// Over, or cancelled: result() stays as it is.
    void finished();

private:
    /// What the worker leaves for the GUI thread.
    struct Shared {
        std::mutex mutex;
        analyze::TuneResult result;
        bool isNew = false;
    };
    void take();

    QPointer<JobRunner> m_jobs;
    QString m_kind;
    std::shared_ptr<Shared> m_shared;
    analyze::TuneResult m_result;
    double m_progress = 0;
    bool m_running = false;
};

} // namespace shardscope::app
