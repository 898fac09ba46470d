// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string_view>

#include "device_agent/probes/doctor.h"

namespace shardscope::probes {

/// Share of the last ten seconds, in per cent, in which some task waited for a resource: the first
/// avg10 of a file in /proc/pressure. Source: Documentation/accounting/psi.rst of Linux.
std::optional<double> pressurePercent(std::string_view text);

/// The finding for "memory", "io" or "cpu"; a note where the kernel keeps no account.
Finding judgePressure(const std::string& proc, const std::string& resource);

} // namespace shardscope::probes
