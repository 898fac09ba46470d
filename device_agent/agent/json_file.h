// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"

namespace shardscope::agent {

/// Writes a document, indented, under a temporary name that is then renamed; "-" is standard
/// output, and what already stands there and is no plain file (a pipe, a device) is written in
/// place.
base::Status writeJson(const std::string& path, const nlohmann::ordered_json& document);

} // namespace shardscope::agent
