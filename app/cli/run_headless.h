// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>

#include "app/remote/run_controller.h"

namespace shardscope::app {

/// Runs an order to its end in an event loop of its own; what broke it, if anything did. `prepare`
/// may change the controller before it starts.
std::optional<base::Error> runToEnd(
    RunStore* store, const RunOrder& order, RunDocument& document,
    const std::function<void(RunController&)>& prepare = {});

} // namespace shardscope::app
