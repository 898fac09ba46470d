// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "app/remote/run_controller.h"

namespace shardscope::app {

/// Runs an order to its end in an event loop of its own; what broke it, if anything did.
std::optional<base::Error> runToEnd(RunStore* store, const RunOrder& order, RunDocument& document);

} // namespace shardscope::app
