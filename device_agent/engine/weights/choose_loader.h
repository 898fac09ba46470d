// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_agent/engine/weights/arena.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// The loader for a run, and how it came to it.
struct ChosenLoader {
    std::unique_ptr<ShardLoader> loader;
    std::string reason;             ///< why this one
    std::vector<std::string> notes; ///< each fall-back with its reason; the use of the page cache
    bool readsPastCache = false;    ///< rows of tables are then read like that too
};

/// Tries the loaders on the file itself and takes the first that works: `uring` falls back to
/// direct, `direct` to pread, where the kernel or the file system refuses them. `auto` begins at
/// uring; only where all weights stay resident and the file is in the page cache already it takes
/// pread, as nothing loads faster. `mmap`, `populate` and `pread` work everywhere.
///
/// `freeRam` is what the system has to give, if that is known: see choosePageCache(). `file` and
/// `arena` must outlive the loader.
ChosenLoader chooseLoader(
    const plan::Plan& plan, WeightFile& file, const Arena& arena,
    std::optional<base::Bytes> freeRam = std::nullopt);

} // namespace shardscope::engine
