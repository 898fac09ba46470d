// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "sim_engine/base/args.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::app {

/// The card that --model names: of a file, or built in. Usage error without the flag.
base::Result<std::shared_ptr<const model::ModelCard>> cardFromArgs(const base::Args& args);

} // namespace shardscope::app
