// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>

#include "app/remote/run_controller.h"
#include "sim_engine/base/args.h"

namespace shardscope::app {

/// Runs an order to its end in an event loop of its own; what broke it, if anything did. `prepare`
/// may change the controller before it starts.
std::optional<base::Error> runToEnd(
    RunStore* store, const RunOrder& order, RunDocument& document,
    const std::function<void(RunController&)>& prepare = {});

/// What runToEnd() prepares for runs on `board`: nothing for this machine, the words of an
/// emulation, or the way over SSH. An error where there is no way.
base::Result<std::function<void(RunController&)>>
wayTo(const QString& board, RunStore& store, const base::Args& args);

} // namespace shardscope::app
