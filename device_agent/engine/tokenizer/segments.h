// SPDX-License-Identifier: GPL-3.0-or-later
// Text with times, from the tokens of windows that were decoded with timestamps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::tokenizer {

/// A piece of text between two timestamps; times since the begin of the recording.
struct Segment {
    std::int64_t beginMs = 0;
    std::int64_t endMs = 0;
    std::string text; ///< as the tokens spell it, with its leading space

    bool operator==(const Segment&) const = default;
};

/// The segments of one window that begins at `beginMs`. Text behind the last timestamp (the window
/// ended within a sentence) is kept and ends with the window at `endMs`.
std::vector<Segment> segmentsOf(
    const Vocabulary& vocabulary, std::span<const Token> window, std::int64_t beginMs,
    std::int64_t endMs);

/// "01:02:03.450".
std::string timeText(std::int64_t ms);

/// "[00:00:00.000 --> 00:00:02.500] text".
std::string segmentLine(const Segment& segment);

} // namespace shardscope::tokenizer
