// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include "device_agent/engine/weights/page_cache.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Maps pages of the file over their place in the arena: lazily, or all at once (populate).
class MapLoader final : public SerialLoader {
public:
    MapLoader(const WeightFile& file, bool populate, CacheChoice cache)
        : m_file(file), m_populate(populate), m_cache(std::move(cache)) {}

    /// Gives the place back to the arena as fresh pages.
    base::Status release(const plan::Shard& shard, std::byte* place) override;
    plan::Loader kind() const override {
        return m_populate ? plan::Loader::Populate : plan::Loader::Mmap;
    }

protected:
    base::Status load(const plan::Shard& shard, std::byte* place) override;

private:
    const WeightFile& m_file;
    bool m_populate;
    CacheChoice m_cache;
};

} // namespace shardscope::engine
