// SPDX-License-Identifier: GPL-3.0-or-later
// All that the views need to know about a trace, kept up to date as it grows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/analyze/arena_lives.h"
#include "sim_engine/analyze/memory_series.h"
#include "sim_engine/analyze/span_lane.h"
#include "sim_engine/analyze/token_bars.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::analyze {

/// Lanes of spans, by what was done.
enum class SpanLaneKind : std::uint8_t { Compute, Read, Stall };
inline constexpr std::size_t kSpanLaneCount = 3;

/// "compute", "I/O", "stall".
std::string_view spanLaneName(SpanLaneKind lane);

/// What a process may be larger than its arena: code, stacks, the vocabulary.
inline constexpr base::Bytes kProcessAllowance = base::mebibytes(8);

/// The first moment at which a budget was exceeded, and by what.
struct Violation {
    base::Nanos time;
    base::Bytes bytes;
    bool byRss = false; ///< the process, not the arena
};

/// Takes the events of one trace as they are appended: O(new events). Thread-compatible.
class RunIndex {
public:
    void clear();
    /// Takes what `trace` has more than at the last call. Another trace needs clear() first.
    void update(const trace::Trace& trace);

    std::size_t eventsTaken() const { return m_taken; }
    /// Events whose times or sizes no run can have (a damaged recording); they are left out.
    std::size_t eventsSkipped() const { return m_skipped; }
    /// End of the last event.
    base::Nanos end() const { return base::Nanos(m_end); }
    const MemorySeries& memory() const { return m_memory; }
    const CounterSeries& counter(trace::CounterKind kind) const {
        return m_counters[static_cast<std::size_t>(kind)];
    }
    const ArenaLives& arena() const { return m_arena; }
    const SpanLane& lane(SpanLaneKind kind) const {
        return m_lanes[static_cast<std::size_t>(kind)];
    }
    const TokenBars& tokens() const { return m_tokens; }

    /// Size of the arena: what the plan says, or the highest life where it says nothing.
    base::Bytes arenaBytes() const;
    /// First moment at which the arena was larger than `budget`, or the process by more than
    /// kProcessAllowance; none where the budget is 0.
    std::optional<Violation> firstViolation(base::Bytes budget) const;
    /// Why the shard that is read, waited for or computed at `t` was loaded, and if it is known why
    /// it had to go; "" for things that no plan loaded.
    std::string whyLoaded(base::ShardId shard, base::Nanos t) const;

private:
    void take(const trace::Event& event, const trace::Legend& legend);

    std::size_t m_taken = 0;
    std::size_t m_skipped = 0;
    std::int64_t m_end = 0;
    base::Bytes m_planned;
    MemorySeries m_memory;
    std::array<CounterSeries, trace::kCounterCount> m_counters;
    ArenaLives m_arena;
    std::array<SpanLane, kSpanLaneCount> m_lanes;
    TokenBars m_tokens;
};

} // namespace shardscope::analyze
