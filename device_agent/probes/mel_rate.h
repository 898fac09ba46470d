// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::probes {

/// Operations per second of the mel front end in one thread, counted as the planner counts them for
/// a frame. A short WAV file is written into `folder` and removed; Failed where that cannot be.
base::Result<double> melRate(const std::string& folder);

} // namespace shardscope::probes
