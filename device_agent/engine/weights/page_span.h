// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "sim_engine/base/units.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

/// Whole pages around an extent: where they begin in the shard's block and in the file.
struct PageSpan {
    base::Bytes place;
    base::Bytes fileOffset;
    base::Bytes bytes;
};

/// A read past the page cache that ends within a sector has met the end of the file; one that ends
/// before it can be gone on with.
inline bool endsFile(std::int64_t bytesRead) {
    constexpr std::int64_t kSector = 512;
    return bytesRead % kSector != 0;
}

inline PageSpan pagesOf(const plan::Extent& extent) {
    const base::Bytes lead(extent.fileOffset.value % plan::kPage);
    return {
        extent.place - lead, extent.fileOffset - lead,
        base::alignUp(lead + extent.bytes, plan::kPage)};
}

} // namespace shardscope::engine
