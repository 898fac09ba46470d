// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/result.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::model {

/// Names of the built-in cards: "card:whisper-tiny.en", ..., with f16 matrices.
std::vector<std::string> catalogNames();

/// A built-in card; Usage where there is none of that name.
base::Result<ModelCard> catalogCard(std::string_view name);

/// What `--model` means: a built-in card ("card:...") or the header of a file.
base::Result<ModelCard> loadCard(const std::string& model);

} // namespace shardscope::model
