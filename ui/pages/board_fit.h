// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::ui {

/// How a built-in model does on a board that gives it all RAM the system leaves.
struct FitRow {
    std::string name; ///< "whisper-small"
    base::Bytes weights;
    bool fits = false;
    base::Bytes peak;     ///< of the plan; needed where it does not fit
    base::Bytes streamed; ///< read for each token
    analyze::Summary summary;
};

/// Plans and simulates the built-in models with all settings at their defaults. Thread-safe, takes
/// a moment.
std::vector<FitRow> boardFit(const plan::BoardProfile& board);

} // namespace shardscope::ui
