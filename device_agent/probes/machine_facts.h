// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

/// Architecture, kernel, clusters of cores and the largest cache, as far as this system tells them.
/// `sys` and `cpuinfo` are where the kernel shows itself; tests put files of their own there.
plan::MachineFacts
machineFacts(const std::string& sys = "/sys", const std::string& cpuinfo = "/proc/cpuinfo");

/// The name of an Arm core by its part number in cpuinfo ("0xd0b": "Cortex-A76"); empty where it is
/// not known. Source: the Main ID Register values of Arm's technical reference manuals.
std::string armCoreName(const std::string& part);

} // namespace shardscope::probes
