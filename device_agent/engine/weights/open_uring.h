// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "device_agent/engine/weights/arena.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

struct OpenedUring {
    std::unique_ptr<ShardLoader> loader;
    std::string note; ///< what it does without; empty: nothing
};

/// A loader over io_uring. Failed where the kernel has none for us or the file system no O_DIRECT
/// (tried with a real read), and where the agent was built without liburing.
base::Result<OpenedUring> openUring(const plan::Plan& plan, WeightFile& file, const Arena& arena);

} // namespace shardscope::engine
