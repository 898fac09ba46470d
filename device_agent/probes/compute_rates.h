// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "device_agent/probes/probe_progress.h"
#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

/// How processor and memory are measured.
struct ComputeOptions {
    unsigned threads = 1; ///< the most that a run would take
    base::Bytes memory;   ///< to stream: more than the caches hold, no more than there is to spare
    std::string folder;   ///< a short WAV file is written there and removed
    bool isQuick = false; ///< fewer types and rounds
};

/// Writes the rates of kernels, memory and threads into `board`, and how far apart its rounds were
/// into board.noise. Each thing is measured in several rounds that lie seconds apart, and the best
/// round counts. Failed where the folder cannot be written.
base::Status measureCompute(
    const ComputeOptions& options, const ProbeProgress& progress, plan::BoardProfile& board);

} // namespace shardscope::probes
