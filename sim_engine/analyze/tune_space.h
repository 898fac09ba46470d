// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/analyze/tune.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::analyze {

/// A knob with the values that a search tries, as its parse() takes them; the start's value is one
/// of them.
struct TuneKnob {
    const plan::Knob* knob = nullptr;
    std::vector<std::string> values;
};

/// The knobs that are searched, in the order of the documentation. `pin` is none of them: a smaller
/// budget with `auto` is the same as any number of bytes. LRU and random are left out: on a cycle
/// of shards they keep less of what comes next than the others, whatever the board.
std::vector<TuneKnob> tuneSpace(
    const model::ModelCard& card, const plan::BoardProfile& board, const TuneQuestion& question);

/// `config` with one knob set.
plan::RunConfig with(plan::RunConfig config, const plan::Knob& knob, const std::string& value);

/// Configurations that differ from `config` in one knob.
std::vector<plan::RunConfig>
neighbours(const plan::RunConfig& config, const std::vector<TuneKnob>& space);

/// How many of the knobs of `space` differ from the default.
std::int32_t changes(const plan::RunConfig& config, const std::vector<TuneKnob>& space);

} // namespace shardscope::analyze
