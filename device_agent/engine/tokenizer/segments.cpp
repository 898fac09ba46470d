// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/tokenizer/segments.h"

#include <algorithm>

#include "device_agent/engine/tokenizer/timestamp_rules.h"
#include "sim_engine/base/format.h"

namespace shardscope::tokenizer {

std::vector<Segment> segmentsOf(
    const Vocabulary& vocabulary, std::span<const Token> window, std::int64_t beginMs,
    std::int64_t endMs) {
    const SpecialTokens& special = vocabulary.special();
    std::vector<Segment> segments;
    Segment open{beginMs, 0, {}};
    const auto close = [&](std::int64_t at) {
        if (!open.text.empty()) {
            open.endMs = at;
            segments.push_back(std::move(open));
        }
        open = {at, 0, {}};
    };
    for (const Token id : window) {
        if (id < special.eot)
            open.text += vocabulary.bytesOf(id);
        else if (id > special.firstTimestamp) // 0.00 s ends nothing
            close(beginMs + std::int64_t{kTickMs} * (id - special.firstTimestamp));
    }
    close(std::max(open.beginMs, endMs));
    return segments;
}

std::string timeText(std::int64_t ms) {
    const auto part = [ms](std::int64_t unit, std::int64_t count) {
        return static_cast<int>(ms / unit % count);
    };
    return base::formatted(
        "%02d:%02d:%02d.%03d", static_cast<int>(ms / 3'600'000), part(60'000, 60), part(1000, 60),
        part(1, 1000));
}

std::string segmentLine(const Segment& segment) {
    const std::size_t first = std::min(segment.text.find_first_not_of(' '), segment.text.size());
    return base::formatted(
               "[%s --> %s] ", timeText(segment.beginMs).c_str(), timeText(segment.endMs).c_str()) +
           segment.text.substr(first);
}

} // namespace shardscope::tokenizer
