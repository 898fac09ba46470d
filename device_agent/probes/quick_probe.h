// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

/// Measures this machine in a few seconds: processor, memory, the engine's own kernels, and the
/// storage under `folder`, where a temporary file is written and removed. Failed where the folder
/// cannot be written.
base::Result<plan::BoardProfile> quickProbe(const std::string& folder);

} // namespace shardscope::probes
