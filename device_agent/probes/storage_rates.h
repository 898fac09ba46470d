// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/probes/probe_progress.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

struct StorageOptions {
    std::string folder;   ///< on the storage of the models; a file is written there and removed
    base::Bytes streamed; ///< weights to compute with while reading: more than the caches hold
    bool isQuick = false;
};

/// Writes what reads from a folder cost into `board`: the table of reads, the costs of pages, what
/// computing loses while reading, and words on how it was measured. Values of the device are left
/// out where they could not be told from the page cache, and board.sources says so. Failed where
/// the folder cannot be written.
base::Status measureStorage(
    const StorageOptions& options, engine::kernels::ThreadPool& pool, const ProbeProgress& progress,
    plan::BoardProfile& board);

} // namespace shardscope::probes
