// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

/// Brings shards to their place in the arena. Every loader puts a byte at the same place: extents
/// begin on a page and keep their offset within it. To add one: a class beside this file, a value
/// of plan::Loader, and a case in chooseLoader().
class ShardLoader {
public:
    virtual ~ShardLoader() = default;

    /// Called by the I/O thread. `place` is the begin of the shard's block.
    virtual base::Status load(const plan::Shard& shard, std::byte* place) = 0;

    /// Called when the block is about to be reused; nobody reads the shard any more.
    virtual base::Status release(const plan::Shard&, std::byte*) { return {}; }

    virtual plan::Loader kind() const = 0;
};

} // namespace shardscope::engine
