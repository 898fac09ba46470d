// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/trace/event_ring.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace shardscope::trace {

EventRing::EventRing(std::uint32_t capacity)
    : m_events(new Event[capacity]), m_mask(capacity - 1), m_reserve(capacity / 8) {}

bool EventRing::makeRoom(EventKind kind, std::uint32_t head) const {
    if (!mustArrive(kind))
        return false;
    while (head - m_tail.load(std::memory_order_acquire) > m_mask)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    return true;
}

std::size_t EventRing::drain(std::span<Event> out) {
    const std::uint32_t tail = m_tail.load(std::memory_order_relaxed);
    const std::uint32_t ready = m_head.load(std::memory_order_acquire) - tail;
    const auto count = std::min<std::size_t>(ready, out.size());
    for (std::size_t i = 0; i < count; ++i)
        out[i] = m_events[(tail + static_cast<std::uint32_t>(i)) & m_mask];
    m_tail.store(tail + static_cast<std::uint32_t>(count), std::memory_order_release);
    return count;
}

} // namespace shardscope::trace
