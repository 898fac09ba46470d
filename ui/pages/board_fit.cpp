// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/board_fit.h"

#include "app/replay/what_if.h"
#include "sim_engine/model/card_catalog.h"

namespace shardscope::ui {
namespace {

constexpr std::int32_t kTokens = 12; ///< enough for the steady state

FitRow fitOf(const std::string& name, model::ModelCard card, const plan::BoardProfile& board) {
    FitRow row;
    row.name = name.substr(name.find(':') + 1);
    row.weights = card.weightBytes();
    plan::RunConfig config;
    config.budget = board.ramTotal - board.ramReserved;
    const auto shared = std::make_shared<const model::ModelCard>(std::move(card));
    const app::Prediction p = app::predict(shared, config, board, {kTokens, 1});
    row.fits = p.plan != nullptr;
    if (p.plan) {
        row.peak = p.plan->peak;
        row.streamed = p.plan->streamedPerToken;
        row.summary = p.summary;
    } else if (p.infeasible) {
        row.peak = p.infeasible->needed;
    }
    return row;
}

} // namespace

std::vector<FitRow> boardFit(const plan::BoardProfile& board) {
    std::vector<FitRow> rows;
    for (const std::string& name : model::catalogNames()) {
        if (name.ends_with(".en") || name.ends_with("large") || name.ends_with("large-v2"))
            continue; // of the size of another one
        if (auto card = model::catalogCard(name))
            rows.push_back(fitOf(name, std::move(*card), board));
    }
    return rows;
}

} // namespace shardscope::ui
