// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "device_agent/engine/weights/arena.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// The loader for a run and, where it is not the one that was asked for, why.
struct ChosenLoader {
    std::unique_ptr<ShardLoader> loader;
    std::string reason; ///< empty, or a sentence
};

/// `file` and `arena` must outlive the loader. uring falls back to direct, direct to pread, where
/// the kernel or the file system refuses them. Auto takes pread, which works everywhere and gains
/// from the page cache where there is memory for one.
ChosenLoader chooseLoader(const plan::Plan& plan, WeightFile& file, const Arena& arena);

} // namespace shardscope::engine
