// SPDX-License-Identifier: GPL-3.0-or-later
// How far predictions are from runs that they have not seen: the grid, the folds, the figures.
// Pure.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim_engine/analyze/calibrate.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/workload.h"

namespace shardscope::app {

/// The figures that are compared, by the names of the documents. The stall is measured against the
/// whole run: where there is hardly any, a share of itself says nothing.
enum class Figure : std::uint8_t {
    MsPerToken,
    FirstToken,
    Encode,
    Total,
    Stall,
    BytesRead,
    Peak,      ///< resident memory of the agent
    ArenaPeak, ///< of it, what the plan bounds
};
inline constexpr std::size_t kFigureCount = 8;
/// "decode_ms_per_token", "first_token_ms", ..., "peak_bytes", "arena_peak_bytes".
std::string_view figureName(Figure figure);
using Figures = std::array<double, kFigureCount>;
Figures figuresOf(const analyze::Summary& summary);

/// Configurations that cover what is asked about: shard sizes, budgets, slots, KV types, loaders,
/// policies, threads and three speeds of storage. `board` tells the threads; those that this model
/// cannot take are left out.
std::vector<plan::RunConfig>
defaultGrid(const std::shared_ptr<const model::ModelCard>& card, const plan::BoardProfile& board);
/// A grid in JSON: a list of objects of knobs, in which a list of values stands for each of them.
/// Usage where a knob is unknown or a value impossible, BadInput where it is no such list.
base::Result<std::vector<plan::RunConfig>>
gridFromJson(const nlohmann::ordered_json& document, const std::string& where);

/// One configuration that was run, several times where noise is to be known.
struct ValidatedConfig {
    plan::RunConfig config;
    std::shared_ptr<const plan::Plan> plan;
    plan::Loader loader = plan::Loader::Pread; ///< that was used
    sim::Workload workload;
    std::vector<Figures> repeats;
    std::vector<analyze::RunObservation> observations; ///< one a repeat
    Figures measured{};                                ///< medians of the repeats
    Figures predicted{}; ///< by a profile that was fitted without this configuration
};

/// Fills in `measured` and `predicted` of each. Usage where there are fewer than two to learn from.
base::Status predictHeldOut(std::vector<ValidatedConfig>& all, const plan::BoardProfile& prior);
/// A profile fitted to all of them.
base::Result<analyze::Fit>
fitToAll(const std::vector<ValidatedConfig>& all, const plan::BoardProfile& prior);

struct ErrorFigures {
    double median = 0, p90 = 0, worst = 0; ///< of |predicted / measured - 1|
};
/// A measured and a predicted value of one configuration.
struct Pairing {
    Figures measured{}, predicted{};
};
struct ValidationErrors {
    std::size_t configurations = 0;
    std::array<ErrorFigures, kFigureCount> figures;
    double orderRight = 1;      ///< of pairs whose ms a token differ by more than 10 %
    std::size_t orderPairs = 0; ///< so many there were
};
ValidationErrors errorsOf(const std::vector<Pairing>& pairs);
/// How far repeats are from their median; empty where nothing was repeated.
std::optional<ErrorFigures> noiseOf(const std::vector<ValidatedConfig>& all, Figure figure);

nlohmann::ordered_json toJson(const ErrorFigures& errors);
/// {"configurations", "errors": {figure: {"median", "p90", "worst"}}, "order_right",
/// "order_pairs"}.
nlohmann::ordered_json toJson(const ValidationErrors& errors);
/// By figure name.
nlohmann::ordered_json toJson(const Figures& figures);
/// None where a figure is missing or no number.
std::optional<Figures> figuresFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::app
