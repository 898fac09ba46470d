// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/run_figures.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "app/replay/predicted_summary.h"

namespace shardscope::app {

using analyze::TuneFigures;

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
    const analyze::Summary summary = summaryOf(plan, board, workload);
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
            for (std::size_t i = next++; i < configs.size() && !ended; i = next++) {
                if (cancelled())
                    ended = true;
                else
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

} // namespace shardscope::app
