// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "device_agent/agent/run_job.h"

namespace shardscope::agent {

/// The job that a "run" request of the protocol asks for:
///   {"model", "audio", "config", "cold", "raw_greedy", "prompt_ids"}; all but the first two may be
///   missing.
/// Usage naming the key where a value is impossible.
base::Result<RunJob> jobFromJson(const nlohmann::ordered_json& request);

/// {"code", "what", "where", "mend"}
nlohmann::ordered_json toJson(const base::Error& error);

/// The text under a key; empty where it is missing or no text.
std::string textAt(const nlohmann::ordered_json& object, const char* key);
/// The non-negative integer under a key; none where it is missing or another thing.
std::optional<std::int64_t> numberAt(const nlohmann::ordered_json& object, const char* key);

} // namespace shardscope::agent
