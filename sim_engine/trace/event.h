// SPDX-License-Identifier: GPL-3.0-or-later
// One event of a run, measured or simulated: 32 bytes, little-endian, the same in memory, on the
// wire and in a recording. Kinds are append-only; a reader skips and counts those it does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim_engine/base/units.h"

namespace shardscope::trace {

enum class EventKind : std::uint8_t {
    RunBegin = 1, ///< a = planned peak bytes, b = budget bytes (0: none)
    Window,       ///< id = window: its first op follows
    Phase,        ///< id = model::PassKind: its first op follows; a = tokens in the pass
    Compute,      ///< span: id = op, a = duration, aux = PassKind, b = step (0 = prefill)
    Read,         ///< span: id = shard, a = duration, b = bytes; kRowRead: rows of a table
    Stall,        ///< span: id = shard waited for, a = duration (0: the read was hidden)
    Load,         ///< id = shard, a = arena offset, b = bytes held there, aux = plan::Reason
    Evict,        ///< id = shard, a = arena offset, b = bytes freed, aux = plan::Reason
    Alloc,        ///< id = buffer, a = arena offset, b = bytes, aux = model::Region
    Free,         ///< id = buffer, a = arena offset, b = bytes, aux = model::Region
    Counter,      ///< id = CounterKind, a = value
    Token,   ///< id = token, a = its number in the window, b = window: told where it is chosen,
             ///< with a beam search (see Step) where the window ends
    Dropped, ///< a = events that a full ring lost since the last such event
    RunEnd,  ///< id = 0 done, 1 stopped, 2 failed
    Note,    ///< id = index into the notes of the legend: a fall-back and its reason
    Step,    ///< a decoding step of a beam search is over: id = beams that it was for, a = its
             ///< number in the window, b = window. The tokens come when the window ends
};
inline constexpr std::uint8_t kLastEventKind = static_cast<std::uint8_t>(EventKind::Step);

/// Read::id of a read of embedding rows, which belong to no shard.
inline constexpr std::uint32_t kRowRead = 0xFFFFFFFEu;

enum class CounterKind : std::uint32_t {
    Rss,       ///< resident set of the agent, bytes
    Pss,       ///< proportional set of the agent, bytes
    PageCache, ///< page cache of the cgroup, or of the system, bytes
    FreeRam,   ///< available memory of the system, bytes
    IoBytes,   ///< bytes the process had read from storage so far
    Heat,      ///< hottest thermal zone of the board, thousandths of a degree Celsius
    Clock,     ///< of the fastest core now, kHz: below its most, the governor or heat holds it
    SwapUsed,  ///< swap of the system in use, bytes
};
inline constexpr std::size_t kCounterCount = 8;

/// Threads as they appear in the views.
enum class Lane : std::uint8_t { Compute = 0, Io = 1, Sampler = 2 };
inline constexpr std::size_t kLaneCount = 3;

/// "compute", "I/O", "sampler".
std::string_view laneName(Lane lane);
/// What a run cannot be told without: its begin and end, windows, passes, tokens and notes. These
/// are few; no full ring loses them.
constexpr bool mustArrive(EventKind kind) {
    switch (kind) {
    case EventKind::RunBegin:
    case EventKind::Window:
    case EventKind::Phase:
    case EventKind::Token:
    case EventKind::RunEnd:
    case EventKind::Note:
    case EventKind::Step:
        return true;
    default:
        return false;
    }
}

/// "load", "evict", ...; "unknown" for kinds of a newer version.
std::string_view eventKindName(EventKind kind);
/// "RSS", "PSS", "page cache", "free RAM", "bytes read", "temperature", "core clock", "swap used".
std::string_view counterName(CounterKind kind);
/// What its values count: "bytes", "millidegrees", "kHz".
std::string_view counterUnit(CounterKind kind);

struct Event {
    std::uint64_t t_ns = 0; ///< start, from the begin of the run
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint32_t id = 0;
    EventKind kind = EventKind::RunBegin;
    Lane lane = Lane::Compute;
    std::uint16_t aux = 0;

    bool operator==(const Event&) const = default;

    base::Nanos start() const { return base::Nanos(static_cast<std::int64_t>(t_ns)); }
    bool isSpan() const {
        return kind == EventKind::Compute || kind == EventKind::Read || kind == EventKind::Stall;
    }
    base::Nanos end() const {
        return base::Nanos(static_cast<std::int64_t>(isSpan() ? t_ns + a : t_ns));
    }
};
static_assert(sizeof(Event) == 32 && alignof(Event) == 8);

} // namespace shardscope::trace
