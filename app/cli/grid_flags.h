// SPDX-License-Identifier: GPL-3.0-or-later
// What verbs over many runs share: several boards, and a part of the work for each of several
// machines.
#pragma once

#include <string>
#include <vector>

#include "app/cli/verbs.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::app {

/// One of several shares of a list of runs: every count-th item from index - 1 on.
struct Part {
    std::size_t index = 1; ///< from 1
    std::size_t count = 1;

    bool has(std::size_t item) const { return item % count == index - 1; }
};

/// Reads "2/4"; Usage error for anything else.
base::Result<Part> partFromText(const std::string& text);

/// Takes every `--board NAME` (or `--board=NAME`) out of `words`; {"local"} where there is none.
/// Usage error where a name is missing or stands twice.
base::Result<std::vector<std::string>> takeBoards(Words& words);

/// The profile of a board by name or file. Only this machine's profile needs the store, and one
/// that fails keeps nobody from planning.
base::Result<plan::BoardProfile> boardNamed(const std::string& name);

} // namespace shardscope::app
