// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::model {

/// {"name", "family", "file_bytes", "hparams": {..}, "sections": [..], "tensors": [{"name",
/// "dtype", "shape", "offset", "bytes"}]}: what `inspect` prints and what a recording carries.
nlohmann::ordered_json toJson(const ModelCard& card);

/// The card such a document describes; BadInput where a key is missing or a value is impossible.
base::Result<ModelCard> cardFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::model
