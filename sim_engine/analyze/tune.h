// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for the best settings of a model on a board: the Pareto front of peak memory against time.
// Pure: it is given a function that predicts, so that it needs no simulator, threads or clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/model/model_card.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::analyze {

/// How far the settings may move the result away from that of full precision.
enum class Accuracy : std::uint8_t {
    Exact, ///< f32, f16 and shared
    Near,  ///< and q8
    Lossy, ///< and q4, and half of the audio positions
};

/// What is predicted of one configuration.
struct TuneFigures {
    bool feasible = false; ///< the times are 0 where it is not
    /// Of the plan: a bound that the run keeps. Of one that does not fit: what it needs.
    base::Bytes peak;
    double msPerToken = 0;
    double firstTokenMs = 0;
    double totalMs = 0;
    base::Bytes pinned;
    base::Bytes streamedPerToken;
    base::Bytes crossKv;
    base::Bytes selfKv;
};

/// One configuration that no other one beats in both memory and time.
struct TunePoint {
    plan::RunConfig config; ///< its budget is the least that leaves the plan as it is
    TuneFigures figures;
    /// Why these settings: a sentence each, the weightiest first. Empty until the search is over.
    std::vector<std::string> why;
};

/// What is looked for.
struct TuneQuestion {
    plan::RunConfig start;               ///< knobs that are not searched keep these values
    std::vector<std::string_view> fixed; ///< keys of knobs ("kv") that keep them too
    std::optional<double> maxMsPerToken; ///< points that are slower do not count
    std::optional<double> maxFirstTokenMs;
    Accuracy accuracy = Accuracy::Near;
    /// Also loaders whose reads may stay in the page cache: RAM beside the budget, which others on
    /// the board may need.
    bool pageCache = false;
    std::int32_t windows = 1; ///< 30 s windows of the audio: batches can be as large
};

struct TuneResult {
    std::vector<TunePoint> front;          ///< peak rises, ms a token falls, strictly
    std::vector<TunePoint> firstToken;     ///< the same of peak and the time to the first token
    std::int64_t tried = 0;                ///< different configurations that were predicted
    bool complete = false;                 ///< false where the search was cancelled
    base::Bytes leastPeak;                 ///< of all that was tried, within the constraints or not
    std::optional<double> leastMsPerToken; ///< likewise, within the memory
    std::optional<double> leastFirstTokenMs;
};

/// Predicts configurations, in their order. It may predict on several threads; the answer of tune()
/// depends on what is returned alone. Fewer than were asked for end the search.
using Predict = std::function<std::vector<TuneFigures>(std::span<const plan::RunConfig>)>;
/// Told the share that is done (0..1) and the best so far; false ends the search.
using TuneProgress = std::function<bool(double share, const TuneResult& soFar)>;

/// Searches. The same question and predictions give the same answer. The memory limit is the
/// question's budget or, without one, what the board has free.
TuneResult tune(
    const model::ModelCard& card, const plan::BoardProfile& board, const TuneQuestion& question,
    const Predict& predict, const TuneProgress& progress);

} // namespace shardscope::analyze
