// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shardscope::analyze {

/// Things too short to be told apart are merged by the chunk of time in which they begin, and a
/// chunk is the power of two that is not below `shortest`: panning does not regroup them.
inline int chunkBits(std::int64_t shortest) {
    const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(shortest, 1));
    return static_cast<int>(std::bit_width(least - 1));
}

} // namespace shardscope::analyze
