// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "sim_engine/base/units.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

/// Gives every block an offset (a multiple of kPage, since weights may be mapped anywhere) such
/// that blocks which live at the same tick do not overlap; returns the end of the highest.
///
/// Blocks that live to the last tick go first, the longest-lived lowest: while tokens are decoded
/// they then lie without a gap, so the need of that time is their plain sum. The others fill the
/// holes, large ones first, each at the lowest offset that is free for its life.
base::Bytes placeBlocks(std::span<Block> blocks, std::int32_t lastTick);

} // namespace shardscope::plan
