// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/run_index.h"

#include <algorithm>

#include "sim_engine/base/format.h"

namespace shardscope::analyze {

using base::Bytes;
using base::Nanos;
using trace::EventKind;

namespace {

/// Limits that keep every sum and difference within 63 bits: two years, 4 TiB a block, 64 TiB.
constexpr std::uint64_t kLongestNs = 1ull << 56;
constexpr std::uint64_t kLargestBlock = 1ull << 42;
constexpr std::uint64_t kLargestOffset = 1ull << 46;

bool isPossible(const trace::Event& event) {
    if (event.t_ns > kLongestNs)
        return false;
    switch (event.kind) {
    case EventKind::Compute:
    case EventKind::Stall:
        return event.a <= kLongestNs;
    case EventKind::Read:
        return event.a <= kLongestNs && event.b <= kLargestBlock;
    case EventKind::Load:
    case EventKind::Evict:
    case EventKind::Alloc:
    case EventKind::Free:
        return event.a <= kLargestOffset && event.b <= kLargestBlock;
    case EventKind::Counter:
        return event.a <= kLongestNs;
    default:
        return true;
    }
}

} // namespace

std::string_view spanLaneName(SpanLaneKind lane) {
    constexpr std::array<std::string_view, kSpanLaneCount> kNames{"compute", "I/O", "stall"};
    return kNames[static_cast<std::size_t>(lane)];
}

void RunIndex::clear() {
    *this = {};
}

void RunIndex::update(const trace::Trace& trace) {
    m_planned = trace.legend.peak;
    for (; m_taken < trace.events.size(); ++m_taken) {
        if (isPossible(trace.events[m_taken]))
            take(trace.events[m_taken], trace.legend);
        else
            ++m_skipped;
    }
}

void RunIndex::take(const trace::Event& event, const trace::Legend& legend) {
    m_end = std::max(m_end, event.end().value);
    m_memory.add(event, legend);
    m_arena.add(event, legend);
    m_tokens.add(event);
    Span span;
    span.begin = event.start().value;
    span.end = event.end().value;
    span.id = event.id;
    switch (event.kind) {
    case EventKind::Compute:
        span.kind = event.id < legend.ops.size()
                        ? static_cast<std::uint8_t>(legend.ops[event.id].kind)
                        : static_cast<std::uint8_t>(model::OpKind::Vector);
        span.pass = static_cast<std::uint8_t>(event.aux);
        m_lanes[static_cast<std::size_t>(SpanLaneKind::Compute)].add(span);
        break;
    case EventKind::Read:
        span.bytes = static_cast<std::int64_t>(event.b);
        m_lanes[static_cast<std::size_t>(SpanLaneKind::Read)].add(span);
        break;
    case EventKind::Stall:
        if (event.a > 0)
            m_lanes[static_cast<std::size_t>(SpanLaneKind::Stall)].add(span);
        break;
    case EventKind::Counter:
        if (event.id < trace::kCounterCount)
            m_counters[event.id].add(span.begin, static_cast<std::int64_t>(event.a));
        break;
    default:
        break;
    }
}

Bytes RunIndex::arenaBytes() const {
    return std::max(m_planned, m_arena.top());
}

std::optional<Violation> RunIndex::firstViolation(Bytes budget) const {
    if (budget.value <= 0)
        return std::nullopt;
    const auto arena = m_memory.firstAbove(budget);
    const auto rss = counter(trace::CounterKind::Rss).firstAbove(budget + kProcessAllowance);
    if (arena && (!rss || arena->time <= rss->time))
        return Violation{arena->time, arena->bytes, false};
    if (rss)
        return Violation{rss->time, rss->bytes, true};
    return std::nullopt;
}

std::string RunIndex::whyLoaded(base::ShardId shard, Nanos t) const {
    const auto found = m_arena.lifeOf(LifeKind::Weights, shard.value, t);
    if (!found)
        return {};
    const Life& life = m_arena.lives()[*found];
    const std::string_view load = plan::reasonText(life.loadReason);
    std::string text = base::formatted(
        "%.*s (loaded at %s)", static_cast<int>(load.size()), load.data(),
        base::timeText(Nanos(life.begin)).c_str());
    if (life.isOpen())
        return text;
    const std::string_view evict = plan::reasonText(life.evictReason);
    text += base::formatted(
        "\n%.*s (at %s)", static_cast<int>(evict.size()), evict.data(),
        base::timeText(Nanos(life.end)).c_str());
    return text;
}

} // namespace shardscope::analyze
