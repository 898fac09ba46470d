// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/tune_job.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/drafts.h"

namespace shardscope::app {

using analyze::TuneFigures;
using analyze::TuneResult;

namespace {

TuneFigures figuresOf(
    plan::Drafts& drafts, const plan::BoardProfile& board, const sim::Workload& workload,
    const plan::RunConfig& config) {
    TuneFigures f;
    const auto planned = plan::plan(drafts, config, board);
    if (!planned)
        return f;
    if (const auto* why = std::get_if<plan::Infeasible>(&*planned)) {
        f.peak = why->needed;
        return f;
    }
    const plan::Plan& plan = std::get<plan::Plan>(*planned);
    const analyze::Summary summary = analyze::summarise(sim::simulate(plan, board, workload));
    f.feasible = true;
    f.peak = plan.peak;
    f.msPerToken = summary.decodeMsPerToken;
    f.firstTokenMs = summary.firstTokenMs;
    f.totalMs = summary.totalMs;
    f.pinned = plan.pinnedBytes;
    f.streamedPerToken = plan.streamedPerToken;
    f.crossKv = plan.crossKvBytes;
    f.selfKv = plan.selfKvBytes;
    return f;
}

} // namespace

analyze::Predict simulatedFigures(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const sim::Workload& workload, std::function<bool()> cancelled) {
    return [drafts = std::make_shared<plan::Drafts>(std::move(card)), board, workload,
            cancelled = std::move(cancelled)](
               std::span<const plan::RunConfig> configs) -> std::vector<TuneFigures> {
        std::vector<TuneFigures> all(configs.size());
        std::atomic<std::size_t> next{0};
        std::atomic<bool> ended{false};
        const auto work = [&] {
            for (std::size_t i = next++; i < configs.size(); i = next++) {
                if (ended || cancelled()) {
                    ended = true;
                    return;
                }
                all[i] = figuresOf(*drafts, board, workload, configs[i]);
            }
        };
        {
            const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
            std::vector<std::jthread> others;
            for (std::size_t i = 1; i < std::min(cores, configs.size()); ++i)
                others.emplace_back(work);
            work();
        }
        if (ended)
            all.clear();
        return all;
    };
}

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
