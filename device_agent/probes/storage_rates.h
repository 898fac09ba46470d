// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "device_agent/engine/kernels/thread_pool.h"
#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::probes {

/// A read of s bytes costs latency + s / rate.
struct ReadCost {
    double latencyNs = 0;
    double bytesPerSecond = 0;
};

/// What reads from a folder cost.
struct StorageRates {
    /// Of pread with the file in the page cache, as the default loader reads a model that was read
    /// before.
    ReadCost cached;
    /// Of the device itself; 0 where it could not be told from the page cache.
    ReadCost device;
    /// What was measured and how, for people: "ext4 on /dev/vda; device, O_DIRECT: ...".
    std::string words;
    double pageFaultNs = 0; ///< mapping one page that is in the page cache, and unmapping it
    double overlap = 0;     ///< share of the shorter one that computing and reading lose together
};

/// Writes up to 64 MiB into `folder` for at most a second, reads it in several ways, and removes
/// it. Failed where the folder cannot be written.
base::Result<StorageRates>
measureStorage(const std::string& folder, engine::kernels::ThreadPool& pool);

} // namespace shardscope::probes
