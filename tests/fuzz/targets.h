// SPDX-License-Identifier: GPL-3.0-or-later
// What is fuzzed: each function takes any bytes, as a hostile file or board would send them, and
// must come back. The libFuzzer programs and the deterministic test tst_hostile_bytes share them.
#pragma once

#include <string_view>

namespace shardscope::fuzz {

/// Frames in pieces, then a recording and its summary.
void readFrames(std::string_view bytes);
/// A ggml Whisper file, and where it is one, a plan for it.
void readModel(std::string_view bytes);
/// JSON: a configuration, a board profile, a legend and a card, whichever it is.
void readConfig(std::string_view bytes);
void readProfile(std::string_view bytes);
void readLegend(std::string_view bytes);
void readCard(std::string_view bytes);
/// A WAV file, and its samples.
void readWav(std::string_view bytes);
/// Command lines, amounts and knobs.
void readWords(std::string_view bytes);

} // namespace shardscope::fuzz
