// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include "device_agent/engine/weights/page_cache.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Reads into the arena through the page cache.
class PreadLoader final : public SerialLoader {
public:
    PreadLoader(const WeightFile& file, CacheChoice cache)
        : m_file(file), m_cache(std::move(cache)) {}

    plan::Loader kind() const override { return plan::Loader::Pread; }

protected:
    base::Status load(const plan::Shard& shard, std::byte* place) override {
        for (const plan::Extent& e : shard.extents) {
            if (auto status = m_file.read(e.fileOffset, place + e.place.value, e.bytes); !status)
                return status;
            if (m_cache.leaves(shard))
                dropFromCache(m_file, pagesOf(e));
        }
        return {};
    }

private:
    const WeightFile& m_file;
    CacheChoice m_cache;
};

} // namespace shardscope::engine
