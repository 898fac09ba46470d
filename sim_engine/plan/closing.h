// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

/// What ends a window whose last decoding step was `lastStep` (0: prefill alone): evictions and
/// frees of all that does not stay for the run. An executor performs them before the next window.
std::vector<Step> closingSteps(const Plan& plan, std::int32_t lastStep);

} // namespace shardscope::plan
