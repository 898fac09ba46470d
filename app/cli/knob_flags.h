// SPDX-License-Identifier: GPL-3.0-or-later
// Flags of the knobs, made from the one table of them.
#pragma once

#include <vector>

#include "sim_engine/base/args.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::app {

/// A flag for each knob.
std::vector<base::Flag> knobFlags();
/// These, then the knobs.
std::vector<base::Flag> withKnobs(std::vector<base::Flag> flags);
/// The configuration that the given knobs ask for; Usage error naming the flag.
base::Result<plan::RunConfig> configFromArgs(const base::Args& args);

} // namespace shardscope::app
