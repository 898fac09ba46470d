// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "sim_engine/trace/event.h"

namespace shardscope::trace {

/// Events of one thread on their way to the one that collects them. Lock-free, one writer and one
/// reader. A full ring drops and counts; the writer never waits and never allocates.
class EventRing {
public:
    /// `capacity` is a power of two.
    explicit EventRing(std::uint32_t capacity);

    /// Writer: adds an event, or counts it as dropped.
    void push(const Event& event) {
        const std::uint32_t head = m_head.load(std::memory_order_relaxed);
        if (head - m_tail.load(std::memory_order_acquire) > m_mask) {
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
    std::unique_ptr<Event[]> m_events;
    std::uint32_t m_mask;
    alignas(64) std::atomic<std::uint32_t> m_head{0};
    alignas(64) std::atomic<std::uint32_t> m_tail{0};
    std::atomic<std::uint64_t> m_dropped{0};
};

} // namespace shardscope::trace
