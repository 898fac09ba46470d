// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "device_agent/probes/doctor.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::agent {

/// What the doctor finds on this machine for files in `folder` and, where `model` is not empty, for
/// a run of it with this config. A config that does not fit its budget is a finding; a model that
/// cannot be read is an error.
base::Result<std::vector<probes::Finding>>
doctorFindings(const std::string& folder, const std::string& model, const plan::RunConfig& config);

/// {"worst": "warning", "findings": [{"check", "severity", "what", "mend"}, ..]}
nlohmann::ordered_json toJson(const std::vector<probes::Finding>& findings);

} // namespace shardscope::agent
