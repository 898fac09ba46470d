// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace shardscope::probes {

/// Told what is measured now: "kernels, round 2 of 4". May be empty.
using ProbeProgress = std::function<void(const std::string&)>;

inline void tell(const ProbeProgress& progress, const std::string& words) {
    if (progress)
        progress(words);
}

} // namespace shardscope::probes
