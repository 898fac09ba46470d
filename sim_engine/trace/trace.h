// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim_engine/trace/event.h"
#include "sim_engine/trace/legend.h"

namespace shardscope::trace {

/// A whole run, measured or simulated: events in the order in which they were collected, which is
/// the order of time within a lane. Spans stand where they end.
struct Trace {
    Legend legend;
    std::vector<Event> events;
    std::uint64_t dropped = 0; ///< events lost by full rings or missing from the stream
    bool complete = false;     ///< RunEnd was seen

    base::Nanos duration() const {
        base::Nanos last;
        for (const Event& e : events)
            last = std::max(last, e.end());
        return last;
    }
};

} // namespace shardscope::trace
