// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim_engine/plan/board_profile.h"

namespace shardscope::sim {

/// What of a run the plan leaves open.
struct Workload {
    std::int32_t tokens = 0;  ///< tokens of each window; 0: as many as the plan allows
    std::int32_t windows = 1; ///< 30 s windows of audio
    double audioSeconds = 0;  ///< 0: all windows are full
    /// Whether the model file was read before, so that what has room stands in the page cache.
    /// None: yes on a board that was measured, no on one that is known from data sheets.
    std::optional<bool> isWarm{};
};

inline bool isWarm(const Workload& workload, const plan::BoardProfile& board) {
    return workload.isWarm.value_or(
        !board.measured.empty() || !board.machine.architecture.empty() ||
        board.source.starts_with("probe"));
}

/// Share of a window that has sound: silence behind the end costs the front end nothing.
inline double audioShare(double seconds, std::int32_t window) {
    constexpr double kWindowSeconds = 30;
    return std::clamp(seconds / kWindowSeconds - window, 0.0, 1.0);
}

} // namespace shardscope::sim
