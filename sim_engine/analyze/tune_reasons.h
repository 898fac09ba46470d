// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "sim_engine/analyze/tune_memo.h"
#include "sim_engine/analyze/tune_space.h"

namespace shardscope::analyze {

/// Why a point has its settings, a sentence each: first what its memory buys, then the knobs, the
/// weightiest first. Each knob is held against its default or, where it has that, against the best
/// other value; knobs that change less than a few per cent are not mentioned.
std::vector<std::string>
reasonsFor(const TunePoint& point, const std::vector<TuneKnob>& space, TuneMemo& memo);

} // namespace shardscope::analyze
