// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/throttle.h"

#include <algorithm>
#include <thread>

namespace shardscope::engine {

void Throttle::deliver(Clock::time_point asked, base::Bytes bytes, const std::atomic<bool>* stop) {
    if (!isOn())
        return;
    constexpr auto kSlice = std::chrono::milliseconds(20);
    m_free = std::max(m_free, asked) +
             std::chrono::nanoseconds(static_cast<std::int64_t>(bytes.real() / m_rate * 1e9));
    for (auto now = Clock::now(); now < m_free; now = Clock::now()) {
        if (stop && stop->load(std::memory_order_relaxed))
            return;
        std::this_thread::sleep_until(std::min(m_free, now + kSlice));
    }
}

} // namespace shardscope::engine
