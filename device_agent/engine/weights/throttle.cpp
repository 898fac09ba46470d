// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/throttle.h"

#include <thread>

namespace shardscope::engine {

void Throttle::begin() {
    if (m_rate > 0)
        m_begin = Clock::now();
}

void Throttle::end(base::Bytes bytes) const {
    if (m_rate > 0)
        std::this_thread::sleep_until(
            m_begin +
            std::chrono::nanoseconds(static_cast<std::int64_t>(bytes.real() / m_rate * 1e9)));
}

} // namespace shardscope::engine
