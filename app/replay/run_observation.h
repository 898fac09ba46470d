// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/replay/run_content.h"
#include "sim_engine/analyze/calibrate.h"

namespace shardscope::app {

/// The loader that did the reads of a run: `asked`, or what its result says instead.
plan::Loader usedLoader(plan::Loader asked, const nlohmann::ordered_json& result);

/// What a fit takes from a whole recorded run; `name` is for errors. BadInput where it names no
/// model, is torn, or was planned by another version. Thread-safe.
base::Result<analyze::RunObservation>
observationOf(const RunContent& content, const plan::BoardProfile& prior, const std::string& name);

} // namespace shardscope::app
