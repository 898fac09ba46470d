// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace shardscope::engine {

/// The clock of a run: nanoseconds since its begin, by the monotonic clock. Thread-safe.
class RunClock {
public:
    std::uint64_t now() const {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - m_begin).count());
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point m_begin = Clock::now();
};

} // namespace shardscope::engine
