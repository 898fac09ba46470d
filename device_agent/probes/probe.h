// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "device_agent/probes/probe_progress.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

struct ProbeOptions {
    std::string folder;   ///< on the storage of the models; empty: $TMPDIR, else /var/tmp
    bool isQuick = false; ///< in some seconds: fewer sizes and types, the rest is derived
    ProbeProgress progress;
};

/// Measures this machine in less than a minute: processor, memory, the engine's own kernels by type
/// and shape, threads, and the storage under the folder, where a temporary file is written and
/// removed. What was not measured is not in the profile: plan::fillDerived() fills it in. Failed
/// where the folder cannot be written.
base::Result<plan::BoardProfile> probe(const ProbeOptions& options);

} // namespace shardscope::probes
