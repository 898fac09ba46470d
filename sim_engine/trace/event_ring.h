// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "sim_engine/trace/event.h"

namespace shardscope::trace {

/// Events of one thread on their way to the one that collects them. Lock-free, one writer and one
/// reader; the writer never allocates. Spans and counters that find the ring full are dropped and
/// counted. What a run cannot be told without (mustArrive) has a reserve of an eighth of the places
/// that only it may use; where even that is full, the writer waits for the reader.
class EventRing {
public:
    /// `capacity` is a power of two, at least 8.
    explicit EventRing(std::uint32_t capacity);

    /// Writer: adds an event, or counts it as dropped.
    void push(const Event& event) {
        const std::uint32_t head = m_head.load(std::memory_order_relaxed);
        const std::uint32_t used = head - m_tail.load(std::memory_order_acquire);
        if (used >= m_mask + 1 - m_reserve && !makeRoom(event.kind, head)) {
            m_dropped.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        m_events[head & m_mask] = event;
        m_head.store(head + 1, std::memory_order_release);
    }

    /// Reader: moves up to out.size() events out, oldest first; their number.
    std::size_t drain(std::span<Event> out);

    /// Reader: events dropped since the last call.
    std::uint64_t takeDropped() { return m_dropped.exchange(0, std::memory_order_relaxed); }

private:
    /// Whether the event at `head`, which is beyond the places for all, may be written.
    bool makeRoom(EventKind kind, std::uint32_t head) const;

    std::unique_ptr<Event[]> m_events;
    std::uint32_t m_mask;
    std::uint32_t m_reserve; ///< places kept for what must arrive
    alignas(64) std::atomic<std::uint32_t> m_head{0};
    alignas(64) std::atomic<std::uint32_t> m_tail{0};
    std::atomic<std::uint64_t> m_dropped{0};
};

} // namespace shardscope::trace
