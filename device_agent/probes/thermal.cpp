// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/thermal.h"

#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {

std::optional<std::int64_t> hottestMilliCelsius(const std::string& sys) {
    constexpr int kMostZones = 64;
    constexpr std::int64_t kAbsurd = 200'000; // a sensor that is not there reads as such a value
    std::optional<std::int64_t> hottest;
    for (int zone = 0; zone < kMostZones; ++zone) {
        const auto value = leadingNumber(readKernelText(
            base::formatted("%s/class/thermal/thermal_zone%d/temp", sys.c_str(), zone)));
        if (value && *value > -kAbsurd && *value < kAbsurd && (!hottest || *value > *hottest))
            hottest = *value;
    }
    return hottest;
}

} // namespace shardscope::probes
