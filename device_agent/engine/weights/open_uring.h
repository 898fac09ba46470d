// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "device_agent/engine/weights/arena.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// A loader over io_uring. Failed where the kernel has none for us or the file system no O_DIRECT
/// (tried with a real read), and where the agent was built without liburing.
base::Result<std::unique_ptr<ShardLoader>>
openUring(const plan::Plan& plan, WeightFile& file, const Arena& arena);

} // namespace shardscope::engine
