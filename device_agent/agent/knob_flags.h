// SPDX-License-Identifier: GPL-3.0-or-later
// The knobs on the agent's command line.
#pragma once

#include <vector>

#include "sim_engine/base/args.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::agent {

/// A flag for each knob, behind the flags that a verb has by itself.
std::vector<base::Flag> withKnobs(std::vector<base::Flag> flags);

/// The config that the knobs among the flags give; Usage where a value is impossible.
base::Result<plan::RunConfig> configOf(const base::Args& args);

/// The help lines of all knobs with what they take.
std::string knobHelp();

} // namespace shardscope::agent
