// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "device_agent/agent/frame_out.h"
#include "device_agent/engine/whisper/engine.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::agent {

/// One run from its request to its result: reads the card, plans, opens the engine, collects.
struct RunJob {
    engine::RunRequest request;
    plan::RunConfig config;
    FrameOut* stream = nullptr;                         ///< the recording or the wire; may be null
    std::function<void(const std::string&)> appendText; ///< told new text; may be empty

    /// The result document (analyze::resultJson), with "io.loader_reason" and "io.notes"; where the
    /// request is not traced, "timing.total_ms" alone. A run that was stopped gives the result so
    /// far, with "stopped": true.
    base::Result<nlohmann::ordered_json> perform() const;
};

/// The plan of such a run on this machine; an error where it cannot be done.
base::Result<plan::Plan> planFor(const engine::RunRequest& request, const plan::RunConfig& knobs);

/// The threads that a run takes unless it is told: the fast cores of this machine.
plan::BoardProfile thisBoard();

} // namespace shardscope::agent
