// SPDX-License-Identifier: GPL-3.0-or-later
// Performs the steps of a plan on bookkeeping alone and says what is wrong with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim_engine/plan/plan.h"

namespace shardscope::test {

/// Replays a run of several batches of windows; `lastSteps` has the last decoding step of each.
/// Empty when every promise holds: weights and buffers of an op are there when it runs, what is
/// there at one moment never overlaps, nothing is evicted that is needed before what takes its
/// place, and pins are read as often as their reason says.
std::string replay(const plan::Plan& plan, const std::vector<std::int32_t>& lastSteps);

/// Blocks that live at the same tick and overlap, or a peak that is not that of the map.
std::string checkMap(const plan::Plan& plan);

/// Shards that do not hold what their ops use, or whose extents overlap or leave their pages.
std::string checkShards(const plan::Plan& plan);

} // namespace shardscope::test
