// SPDX-License-Identifier: GPL-3.0-or-later
// A run as its frames would tell it, made from a simulation: no agent needed.
#pragma once

#include "app/replay/run_document.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::tests {

/// A small board with round rates.
plan::BoardProfile smallBoard();

/// The frames of a run of card:whisper-tiny.en under `budget` on smallBoard().
std::string framesOfRun(base::Bytes budget);

/// Feeds the frames of a live run into the document and ends it.
void playRun(app::RunDocument& document, const std::string& frames);

} // namespace shardscope::tests
