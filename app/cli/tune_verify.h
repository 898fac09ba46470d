// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "app/cli/grid_flags.h"
#include "app/cli/tune_text.h"
#include "app/remote/run_controller.h"
#include "app/store/run_store.h"

namespace shardscope::app {

/// Real runs of points of a front.
struct Verification {
    std::int32_t count = 0;                  ///< of the fastest points
    std::string board;                       ///< as it was given
    std::function<void(RunController&)> way; ///< to the board; see wayTo()
    std::string model;                       ///< a file
    std::string audio;
    Part part;
    std::size_t firstItem = 0; ///< number of this board's first run among all of them
};

/// Runs the points and leaves predicted and measured in `answer.verified`; the runs are kept in the
/// store. Done with an error where a run breaks or is stopped; what was run before stays.
base::Status verify(const Verification& what, RunStore* store, TuneAnswer& answer);

} // namespace shardscope::app
