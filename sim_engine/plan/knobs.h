// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of knobs: flag, JSON key, label, values. Command lines, JSON, help and the What-if
// dock are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::plan {

struct Knob {
    std::string_view flag;   ///< "--decoder-shard"
    std::string_view key;    ///< "decoder_shard"
    std::string_view label;  ///< "Decoder shard"
    std::string_view values; ///< "tensor, sublayer or a number of layers"
    std::string_view help;   ///< one sentence
    /// Reads a value; false where it is not one of `values`.
    bool (*parse)(RunConfig& config, std::string_view text);
    /// The value as parse() takes it.
    std::string (*print)(const RunConfig& config);
};

/// All knobs in the order of the documentation.
std::span<const Knob> knobs();

/// The knob with this flag ("--kv") or key ("kv"); null where there is none.
const Knob* findKnob(std::string_view flagOrKey);

/// Sets one knob from text. Usage error naming the flag and what it takes.
base::Status setKnob(RunConfig& config, std::string_view flagOrKey, std::string_view text);

/// {"budget_bytes": 94371840 or null, "encoder_shard": "1", ...}: every knob.
nlohmann::ordered_json toJson(const RunConfig& config);

/// The config of such a document; keys that are missing keep their defaults. Usage error for an
/// unknown key or a wrong value.
base::Result<RunConfig> configFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::plan
