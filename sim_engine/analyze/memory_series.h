// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes held over time, by region, as a staircase; and the sampled counters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim_engine/analyze/min_max_pyramid.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/trace/event.h"
#include "sim_engine/trace/legend.h"

namespace shardscope::analyze {

/// Bytes by model::Region.
using RegionBytes = std::array<std::int64_t, model::kRegionCount>;

/// Least and greatest height of the stack within a pixel column: high[r] is the top of region r
/// with all regions below it, bytes.
struct MemoryColumn {
    RegionBytes low{};
    RegionBytes high{};
    bool empty = true; ///< outside the run

    bool operator==(const MemoryColumn&) const = default;
    std::int64_t total() const { return high.back(); }
};

/// Least and greatest value within a pixel column.
struct ValueColumn {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool empty = true;

    bool operator==(const ValueColumn&) const = default;
};

/// A moment and what was held then.
struct MemoryMoment {
    base::Nanos time;
    base::Bytes bytes;
};

/// Samples of one counter; between samples the last one holds. Thread-compatible.
class CounterSeries {
public:
    void clear();
    /// Samples come in the order of time.
    void add(std::int64_t t, std::int64_t value);
    bool empty() const { return m_times.empty(); }
    std::size_t size() const { return m_times.size(); }
    std::optional<std::int64_t> valueAt(base::Nanos t) const;
    std::int64_t peak() const { return m_peak; }
    std::optional<MemoryMoment> firstAbove(base::Bytes limit) const;
    /// `count` columns over [begin, end); those before the first sample and from `until` on are
    /// empty.
    std::vector<ValueColumn>
    columns(base::Nanos begin, base::Nanos end, std::size_t count, base::Nanos until) const;

private:
    std::vector<std::int64_t> m_times;
    MinMaxPyramid<1> m_values;
    std::int64_t m_peak = 0;
};

/// The staircase of the arena. Loads count as pinned weights where the legend says that their shard
/// is pinned, else as streaming slots. Thread-compatible.
class MemorySeries {
public:
    void clear();
    /// Load, Evict, Alloc and Free; others are ignored. Lanes may be a little out of step: an event
    /// that is earlier than the last one is put where it belongs.
    void add(const trace::Event& event, const trace::Legend& legend);

    bool empty() const { return m_times.empty(); }
    std::size_t size() const { return m_times.size(); }
    base::Nanos timeOf(std::size_t i) const { return base::Nanos(m_times[i]); }
    RegionBytes regionsOf(std::size_t i) const;
    /// Index of the first step at or after t.
    std::size_t firstFrom(base::Nanos t) const;
    RegionBytes regionsAt(base::Nanos t) const;
    base::Bytes totalAt(base::Nanos t) const;
    base::Bytes peak() const;
    /// Greatest total within [begin, end].
    base::Bytes peakWithin(base::Nanos begin, base::Nanos end) const;
    /// First moment at which more than `limit` is held.
    std::optional<MemoryMoment> firstAbove(base::Bytes limit) const;
    /// Regions that ever held something.
    std::array<bool, model::kRegionCount> used() const { return m_used; }
    /// `count` columns over [begin, end), O(count log n); those from `until` on are empty.
    std::vector<MemoryColumn>
    columns(base::Nanos begin, base::Nanos end, std::size_t count, base::Nanos until) const;

private:
    void change(std::int64_t t, model::Region region, std::int64_t bytes);
    /// Rows that stand at or before t.
    std::size_t countUpTo(std::int64_t t) const;

    std::vector<std::int64_t> m_times;
    MinMaxPyramid<model::kRegionCount> m_tops; ///< running sums over the regions
    std::array<bool, model::kRegionCount> m_used{};
};

} // namespace shardscope::analyze
