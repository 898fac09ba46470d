// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/replay/what_if.h"
#include "sim_engine/analyze/tune.h"

namespace shardscope::app {

/// What was asked of one board, and what came of it.
struct TuneAnswer {
    std::shared_ptr<const model::ModelCard> card;
    plan::BoardProfile board;
    analyze::TuneQuestion question;
    sim::Workload workload;
    analyze::TuneResult result;
    double seconds = 0;
    nlohmann::ordered_json error;    ///< errorBar() of the board
    nlohmann::ordered_json verified; ///< by the verification; null without one
};

/// The flags that make these settings out of the defaults: "--budget 40MiB --slots 1".
std::string flagsOf(const plan::RunConfig& config);

/// {"model", "board", "limit_bytes", ..., "front": [...], "first_token_front": [...], "verified"}.
/// A point is the document of `simulate` with "flags" and "why".
nlohmann::ordered_json tuneJson(const TuneAnswer& answer);

/// The same for people: a line a point, then the reasons of each.
std::string tuneText(const TuneAnswer& answer);

/// Predicted against measured, a line a verified point.
std::string verifiedText(const nlohmann::ordered_json& verified);

} // namespace shardscope::app
