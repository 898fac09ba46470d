// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "sim_engine/model/model_card.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::ui {

/// The words to choose from where a knob is a choice, not a range; else empty.
std::vector<std::string> knobChoices(const plan::Knob& knob);

/// The values that the slider of a knob passes, in the knob's words; empty for knobs that are a
/// choice of words. `everything` is the arena that holds all weights.
std::vector<std::string> knobStops(
    std::string_view key, const model::ModelCard& card, const plan::BoardProfile& board,
    base::Bytes everything);

} // namespace shardscope::ui
