// SPDX-License-Identifier: GPL-3.0-or-later
// What one knob does, value by value: by default the size of the decoder's shards.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/model/model_card.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"

namespace shardscope::app {

/// One value of the knob, planned and simulated. Figures of a token are means over the decoding
/// steps.
struct SweepRow {
    std::string value;
    bool feasible = false;
    base::Bytes peak;         ///< of one that does not fit: what it needs
    base::Bytes largestShard; ///< of those that a token uses
    base::Bytes pinned;
    double loads = 0;     ///< shards that are loaded for a token: switches
    double bytesRead = 0; ///< for a token
    double readMs = 0;    ///< I/O time of a token, hidden or not
    double stallMs = 0;   ///< of it, what the token waited for
    double msPerToken = 0;
    double firstTokenMs = 0;
};

struct Sweep {
    std::string model, board;
    const plan::Knob* knob = nullptr;
    plan::RunConfig config; ///< the other knobs
    std::vector<SweepRow> rows;
};

/// The values that a knob is swept over unless others are named; empty for a knob without a list.
std::vector<std::string> sweepValues(std::string_view key);

/// Plans and simulates each of `values` (as the knob's parse() takes them). An error where a value
/// or the rest of the settings is impossible; values that do not fit the budget are rows.
base::Result<Sweep> sweepKnob(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const plan::RunConfig& config, const plan::Knob& knob, const std::vector<std::string>& values,
    const sim::Workload& workload);

/// A header with units, then a line a row.
std::string sweepCsv(const Sweep& sweep);
/// Three charts over the values: peak, loads a token, and times of a token. Self-contained SVG.
std::string sweepSvg(const Sweep& sweep);

} // namespace shardscope::app
