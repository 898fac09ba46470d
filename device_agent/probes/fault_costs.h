// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "device_agent/probes/test_file.h"

namespace shardscope::probes {

/// What pages of a mapped file cost.
struct FaultCosts {
    double populateNs = 0; ///< mapping a cached page with all the others, and unmapping it
    double minorNs = 0;    ///< touching a cached page of a lazy map, and unmapping it
    /// Touching a lazy map, or mapping at once, what is not in the page cache; none where the pages
    /// could not be dropped or the kernel counted no reads.
    std::optional<double> mappedBytesPerSecond;
    std::optional<double> populatedBytesPerSecond;
};

/// Leaves the file in the page cache.
FaultCosts measureFaults(const TestFile& file);

} // namespace shardscope::probes
