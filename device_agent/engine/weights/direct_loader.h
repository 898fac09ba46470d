// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_agent/engine/weights/page_span.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Reads whole pages into the arena past the page cache, one request at a time.
class DirectLoader final : public SerialLoader {
public:
    DirectLoader(const WeightFile& file, int descriptor) : m_file(file), m_fd(descriptor) {}

    plan::Loader kind() const override { return plan::Loader::Direct; }

protected:
    base::Status load(const plan::Shard& shard, std::byte* place) override;

private:
    /// Reads whole pages; what is needed of them ends at `end` in the file.
    base::Status read(const PageSpan& pages, base::Bytes end, std::byte* place) const;

    const WeightFile& m_file;
    int m_fd;
};

} // namespace shardscope::engine
