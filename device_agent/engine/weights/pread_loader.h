// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Reads into the arena through the page cache.
class PreadLoader final : public ShardLoader {
public:
    explicit PreadLoader(const WeightFile& file) : m_file(file) {}

    base::Status load(const plan::Shard& shard, std::byte* place) override {
        for (const plan::Extent& e : shard.extents)
            if (auto status = m_file.read(e.fileOffset, place + e.place.value, e.bytes); !status)
                return status;
        return {};
    }
    plan::Loader kind() const override { return plan::Loader::Pread; }

private:
    const WeightFile& m_file;
};

} // namespace shardscope::engine
