// SPDX-License-Identifier: GPL-3.0-or-later
// The sample that comes with the program: a small model, clips, and a small board to imitate.
#pragma once

#include "app/remote/run_controller.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// A file of resources/, found by name: under $SHARDSCOPE_RESOURCES, where the program is installed
/// (../share/shardscope), or in the source tree above a build folder. BadInput where it is in none.
base::Result<QString> resourceFile(const QString& name);

/// The demonstration: the sample model on a sample clip, held to a budget that does not hold all of
/// its weights and to the reads of a slow flash.
base::Result<RunOrder> demoOrder();

} // namespace shardscope::app
