// SPDX-License-Identifier: GPL-3.0-or-later
// Runs for tests and benchmarks of the views: planned and simulated, no agent needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim_engine/trace/trace.h"

namespace shardscope::tests {

/// A simulated run of `tokens` tokens in each of `windows` windows of a built-in card on a board of
/// resources/boards, with knobs given as {"--budget", "40MiB", ...}. Ends the program with a
/// message where that cannot be.
std::shared_ptr<const trace::Trace> simulatedRun(
    const std::string& card, const std::string& board, std::int32_t tokens,
    const std::vector<std::string>& knobs, std::int32_t windows = 1);

/// The same run as an agent would report it: times that waver by some percent (always the same
/// ones), and RSS and page cache sampled every 10 ms.
trace::Trace asMeasured(const trace::Trace& simulated);

} // namespace shardscope::tests
