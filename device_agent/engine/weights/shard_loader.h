// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "device_agent/engine/weights/weight_file.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

/// Brings shards to their place in the arena. Every loader puts a byte at the same place: extents
/// begin on a page and keep their offset within it.
class ShardLoader {
public:
    virtual ~ShardLoader() = default;

    /// Called by the I/O thread. `place` is the begin of the shard's block.
    virtual base::Status load(const plan::Shard& shard, std::byte* place) = 0;

    /// Called when the block is about to be reused; nobody reads the shard any more.
    virtual base::Status release(const plan::Shard&, std::byte*) { return {}; }

    virtual plan::Loader kind() const = 0;
};

/// The loader for a run and, where it is not the one that was asked for, why.
struct ChosenLoader {
    std::unique_ptr<ShardLoader> loader;
    std::string fallback; ///< empty, or a sentence
};

/// `file` must outlive the loader. Auto takes pread: it works everywhere and overlaps well. Usage
/// error for a loader that this build does not have.
base::Result<ChosenLoader> chooseLoader(plan::Loader wanted, WeightFile& file);

} // namespace shardscope::engine
