// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shardscope::probes {

/// The hottest thermal zone under `sys`/class/thermal, in thousandths of a degree Celsius; none
/// where the system shows none. Source: Documentation/driver-api/thermal/sysfs-api.rst of Linux.
std::optional<std::int64_t> hottestMilliCelsius(const std::string& sys);

} // namespace shardscope::probes
