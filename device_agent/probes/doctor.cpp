// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/doctor.h"

#include <array>

namespace shardscope::probes {

std::string_view severityName(Severity severity) {
    constexpr std::array<std::string_view, 4> kNames{"good", "note", "warning", "problem"};
    return kNames[static_cast<std::size_t>(severity)];
}

std::vector<Finding> examine(const Demand& demand, const SystemRoots& roots) {
    std::vector<Finding> findings;
    examineMemory(demand, roots, findings);
    examineStorage(demand, roots, findings);
    examineProcessor(roots, findings);
    return findings;
}

} // namespace shardscope::probes
