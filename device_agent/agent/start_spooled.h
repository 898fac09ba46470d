// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "device_agent/agent/spool.h"
#include "sim_engine/base/result.h"

namespace shardscope::agent {

/// Starts a process that performs the request and goes on when this one ends. Returns its id when
/// the run's file is locked; Failed with the process's word where it does not come so far.
base::Result<std::string> startSpooled(const Spool& spool, const nlohmann::ordered_json& request);

} // namespace shardscope::agent
