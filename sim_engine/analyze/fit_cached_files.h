// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "sim_engine/analyze/calibrate.h"

namespace shardscope::analyze {

/// How the files that these runs have read lie in the page cache, from how long copies of their
/// parts took, where `reads` is what each loader's cost at the mean. One for each model.
std::vector<plan::CachedFile> fitCachedFiles(
    const std::vector<const RunObservation*>& runs, const std::vector<plan::MeasuredReads>& reads);

} // namespace shardscope::analyze
