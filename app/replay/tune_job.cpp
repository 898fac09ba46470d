// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/tune_job.h"

#include <utility>

#include "app/replay/run_figures.h"

namespace shardscope::app {

using analyze::TuneResult;

TuneJob::TuneJob(JobRunner* jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
    static quint64 count = 0;
    m_kind = QStringLiteral("tune %1").arg(++count);
    connect(jobs, &JobRunner::progressChanged, this, [this](const QString& kind, double share) {
        if (kind != m_kind || !m_running)
            return;
        m_progress = share;
        take();
        emit progressChanged(share);
    });
}

TuneJob::~TuneJob() {
    if (m_jobs && m_running)
        m_jobs->cancel(m_kind); // what it would still deliver has nobody to take it
}

void TuneJob::start(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const analyze::TuneQuestion& question, const sim::Workload& workload) {
    m_result = {};
    m_progress = 0;
    m_running = true;
    m_shared = std::make_shared<Shared>();
    m_jobs->start(
        m_kind,
        [this, card = std::move(card), board, question, workload,
         shared = m_shared](JobControl& job) -> JobRunner::Deliver {
            const auto keep = [&](const TuneResult& result) {
                const std::lock_guard lock(shared->mutex);
                shared->result = result;
                shared->isNew = true;
            };
            const auto predict =
                simulatedFigures(card, board, workload, [&job] { return job.isCancelled(); });
            keep(analyze::tune(
                *card, board, question, predict, [&](double share, const TuneResult& soFar) {
                    keep(soFar);
                    job.setProgress(share);
                    return !job.isCancelled();
                }));
            return [this, shared] {
                if (shared != m_shared)
                    return;
                m_running = false;
                m_progress = 1;
                take();
                emit progressChanged(1);
                emit finished();
            };
        });
    emit frontChanged();
    emit progressChanged(0);
}

/// Takes over what the worker has found, if it is new.
void TuneJob::take() {
    {
        const std::lock_guard lock(m_shared->mutex);
        if (!std::exchange(m_shared->isNew, false))
            return;
        m_result = m_shared->result;
    }
    emit frontChanged();
}

void TuneJob::cancel() {
    if (!std::exchange(m_running, false))
        return;
    m_jobs->cancel(m_kind);
    take();
    emit finished();
}

} // namespace shardscope::app
