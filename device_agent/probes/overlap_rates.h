// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/probes/test_file.h"

namespace shardscope::probes {

/// What decoding loses while reads run beside it: the added time as a share of the time without
/// them (an overlap factor of the simulator), within 0 and 1.
struct OverlapRates {
    double cached = 0;            ///< reads that the page cache serves
    std::optional<double> direct; ///< reads past it; none where there are none
    double throttled = 0;         ///< cached reads that are held back to 64 MB/s
};

/// All threads of the pool multiply a token's row with f16 weights of `weights` bytes, which no
/// cache should hold, while one more thread reads without a pause. The best of the rounds counts.
/// The file is in the page cache.
OverlapRates measureOverlap(
    const TestFile& file, engine::kernels::ThreadPool& pool, std::size_t weights, int rounds);

} // namespace shardscope::probes
