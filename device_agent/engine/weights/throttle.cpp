// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/throttle.h"

#include <algorithm>
#include <thread>

namespace shardscope::engine {

void Throttle::begin() {
    if (m_rate > 0)
        m_begin = Clock::now();
}

void Throttle::end(base::Bytes bytes, const std::atomic<bool>* stop) const {
    if (m_rate <= 0)
        return;
    constexpr auto kSlice = std::chrono::milliseconds(20);
    const auto until =
        m_begin + std::chrono::nanoseconds(static_cast<std::int64_t>(bytes.real() / m_rate * 1e9));
    while (Clock::now() < until && !(stop && stop->load(std::memory_order_relaxed)))
        std::this_thread::sleep_until(std::min(until, Clock::now() + kSlice));
}

} // namespace shardscope::engine
