// SPDX-License-Identifier: GPL-3.0-or-later
// What a run leaves in the page cache. The budget bounds the arena and mapped weights; the page
// cache stands beside it, and the kernel takes it back when it needs the memory. Loaders past it
// (direct, uring) leave nothing there. Those that read through it keep what will be read again and
// has room, and give back the rest, so that a run does not push out what others keep there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device_agent/engine/weights/page_span.h"
#include "device_agent/engine/weights/weight_file.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

enum class CacheUse : std::uint8_t {
    Keep,     ///< all stays: there is room, and the next run finds it
    Streamed, ///< what streams stays, for it is read again; what is pinned is read once and leaves
    Nothing,  ///< each piece leaves as soon as it was used: it would be gone before its next use
};

struct CacheChoice {
    CacheUse use = CacheUse::Nothing;
    std::string reason; ///< a sentence

    /// True where a shard's pages are given back once they were used.
    bool leaves(const plan::Shard& shard) const {
        return use == CacheUse::Nothing || (use == CacheUse::Streamed && shard.pinned);
    }
};

/// What a loader that reads through the page cache keeps there. `freeRam` is what the system, or
/// the memory cgroup, has to give before the run; none where that is not known. Half of what the
/// arena leaves of it may be filled.
CacheChoice choosePageCache(const plan::Plan& plan, std::optional<base::Bytes> freeRam);

/// Gives the pages back that nobody maps.
void dropFromCache(const WeightFile& file, const PageSpan& pages);

/// Gives back all pages of the file, also those that were not written to the storage yet. What
/// other programs map stays. Failed where the storage fails.
base::Status forgetPages(const WeightFile& file);

/// Share of the file that is in the page cache, as far as the kernel tells: 0 to 1.
double cachedShare(const WeightFile& file);

} // namespace shardscope::engine
