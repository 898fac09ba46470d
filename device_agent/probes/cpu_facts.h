// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace shardscope::probes {

/// Cores that this process may run on.
std::int32_t cores();

/// Those of them in the fastest cluster (by cpu_capacity, else by the highest frequency); on a
/// machine with equal cores all of them. More threads than these slow a run down.
std::int32_t fastCores();

/// "AMD EPYC", "Cortex-A76", or the architecture where the system tells no more.
std::string cpuName();

} // namespace shardscope::probes
