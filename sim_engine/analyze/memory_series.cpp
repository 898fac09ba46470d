// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/memory_series.h"

#include <algorithm>

namespace shardscope::analyze {

using base::Bytes;
using base::Nanos;
using model::Region;
using trace::EventKind;

namespace {

/// Begin of column i of `count` over [begin, end).
std::int64_t columnBegin(Nanos begin, Nanos end, std::size_t i, std::size_t count) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    return begin.value + static_cast<std::int64_t>((end - begin).real() * share);
}

/// First index in [from, size) whose time is not below t: neighbours are near, so gallop.
std::size_t
firstNotBefore(const std::vector<std::int64_t>& times, std::size_t from, std::int64_t t) {
    std::size_t step = 1, low = from;
    while (low + step < times.size() && times[low + step] < t) {
        low += step;
        step *= 2;
    }
    const auto begin = times.begin();
    const auto last = begin + static_cast<std::ptrdiff_t>(std::min(low + step + 1, times.size()));
    const auto it = std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), last, t);
    return static_cast<std::size_t>(it - begin);
}

/// First row whose column `c` is above `limit`; size() where none is. Halves by bounds.
template <std::size_t N>
std::size_t firstRowAbove(const MinMaxPyramid<N>& rows, std::size_t c, std::int64_t limit) {
    std::size_t first = 0, last = rows.size();
    if (first == last || rows.bounds(first, last).high[c] <= limit)
        return rows.size();
    while (last - first > 1) {
        const std::size_t middle = first + (last - first) / 2;
        if (rows.bounds(first, middle).high[c] > limit)
            last = middle;
        else
            first = middle;
    }
    return first;
}

} // namespace

void CounterSeries::clear() {
    *this = {};
}

void CounterSeries::add(std::int64_t t, std::int64_t value) {
    m_times.push_back(m_times.empty() ? t : std::max(t, m_times.back()));
    m_values.append({value});
    m_peak = std::max(m_peak, value);
}

std::optional<std::int64_t> CounterSeries::valueAt(Nanos t) const {
    const auto it = std::upper_bound(m_times.begin(), m_times.end(), t.value);
    if (it == m_times.begin())
        return std::nullopt;
    return m_values.at(static_cast<std::size_t>(it - m_times.begin()) - 1)[0];
}

std::optional<MemoryMoment> CounterSeries::firstAbove(Bytes limit) const {
    const std::size_t i = firstRowAbove(m_values, 0, limit.value);
    if (i == m_values.size())
        return std::nullopt;
    return MemoryMoment{Nanos(m_times[i]), Bytes(m_values.at(i)[0])};
}

std::vector<ValueColumn>
CounterSeries::columns(Nanos begin, Nanos end, std::size_t count, Nanos until) const {
    std::vector<ValueColumn> result(count);
    std::size_t next = firstNotBefore(m_times, 0, begin.value);
    for (std::size_t c = 0; c < count; ++c) {
        const std::int64_t from = columnBegin(begin, end, c, count);
        if (from >= until.value)
            break;
        const std::size_t stop =
            firstNotBefore(m_times, next, columnBegin(begin, end, c + 1, count));
        const std::size_t first = next > 0 ? next - 1 : 0;
        if (stop > first) {
            const auto bounds = m_values.bounds(first, stop);
            result[c] = {bounds.low[0], bounds.high[0], false};
        }
        next = stop;
    }
    return result;
}

void MemorySeries::clear() {
    *this = {};
}

void MemorySeries::add(const trace::Event& event, const trace::Legend& legend) {
    const auto bytes = static_cast<std::int64_t>(event.b);
    const auto t = static_cast<std::int64_t>(event.t_ns);
    switch (event.kind) {
    case EventKind::Load:
    case EventKind::Evict: {
        const bool pinned = event.id < legend.shards.size() && legend.shards[event.id].pinned;
        change(
            t, pinned ? Region::PinnedWeights : Region::StreamSlots,
            event.kind == EventKind::Load ? bytes : -bytes);
        break;
    }
    case EventKind::Alloc:
    case EventKind::Free:
        if (event.aux < model::kRegionCount)
            change(
                t, static_cast<Region>(event.aux), event.kind == EventKind::Alloc ? bytes : -bytes);
        break;
    default:
        break;
    }
}

void MemorySeries::change(std::int64_t t, Region region, std::int64_t bytes) {
    const auto from = static_cast<std::size_t>(region);
    m_used[from] = m_used[from] || bytes > 0;
    RegionBytes row = m_tops.empty() ? RegionBytes{} : m_tops.back();
    if (m_times.empty() || m_times.back() <= t) {
        for (std::size_t r = from; r < row.size(); ++r)
            row[r] += bytes;
        m_times.push_back(t);
        m_tops.append(row);
        return;
    }
    const std::size_t at = countUpTo(t);
    std::vector<RegionBytes> tail;
    for (std::size_t i = at; i < m_tops.size(); ++i)
        tail.push_back(m_tops.at(i));
    tail.insert(tail.begin(), at == 0 ? RegionBytes{} : m_tops.at(at - 1));
    m_times.insert(m_times.begin() + static_cast<std::ptrdiff_t>(at), t);
    m_tops.truncate(at);
    for (RegionBytes& later : tail) {
        for (std::size_t r = from; r < later.size(); ++r)
            later[r] += bytes;
        m_tops.append(later);
    }
}

std::size_t MemorySeries::countUpTo(std::int64_t t) const {
    const auto it = std::upper_bound(m_times.begin(), m_times.end(), t);
    return static_cast<std::size_t>(it - m_times.begin());
}

RegionBytes MemorySeries::regionsAt(Nanos t) const {
    const std::size_t n = countUpTo(t.value);
    return n == 0 ? RegionBytes{} : regionsOf(n - 1);
}

std::size_t MemorySeries::firstFrom(Nanos t) const {
    const auto it = std::lower_bound(m_times.begin(), m_times.end(), t.value);
    return static_cast<std::size_t>(it - m_times.begin());
}

RegionBytes MemorySeries::regionsOf(std::size_t i) const {
    RegionBytes tops = m_tops.at(i);
    for (std::size_t r = tops.size() - 1; r > 0; --r)
        tops[r] -= tops[r - 1];
    return tops;
}

Bytes MemorySeries::totalAt(Nanos t) const {
    const std::size_t n = countUpTo(t.value);
    return Bytes(n == 0 ? 0 : m_tops.at(n - 1).back());
}

Bytes MemorySeries::peak() const {
    return Bytes(m_tops.empty() ? 0 : m_tops.bounds(0, m_tops.size()).high.back());
}

Bytes MemorySeries::peakWithin(Nanos begin, Nanos end) const {
    const std::size_t last = countUpTo(end.value);
    const std::size_t before = countUpTo(begin.value);
    const std::size_t first = before > 0 ? before - 1 : 0;
    return Bytes(last <= first ? 0 : m_tops.bounds(first, last).high.back());
}

std::optional<MemoryMoment> MemorySeries::firstAbove(Bytes limit) const {
    const std::size_t i = firstRowAbove(m_tops, model::kRegionCount - 1, limit.value);
    if (i == m_tops.size())
        return std::nullopt;
    return MemoryMoment{Nanos(m_times[i]), Bytes(m_tops.at(i).back())};
}

std::vector<MemoryColumn>
MemorySeries::columns(Nanos begin, Nanos end, std::size_t count, Nanos until) const {
    std::vector<MemoryColumn> result(count);
    std::size_t next = firstNotBefore(m_times, 0, begin.value);
    for (std::size_t c = 0; c < count; ++c) {
        if (columnBegin(begin, end, c, count) >= until.value)
            break;
        const std::size_t stop =
            firstNotBefore(m_times, next, columnBegin(begin, end, c + 1, count));
        result[c].empty = false;
        const std::size_t first = next > 0 ? next - 1 : 0;
        if (stop > first) {
            const auto bounds = m_tops.bounds(first, stop);
            result[c].low = bounds.low;
            result[c].high = bounds.high;
        }
        next = stop;
    }
    return result;
}

} // namespace shardscope::analyze
