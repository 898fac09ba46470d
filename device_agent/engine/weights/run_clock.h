// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace shardscope::engine {

/// The clock of a run: nanoseconds since its begin, by the monotonic clock. Thread-safe.
class RunClock {
public:
    using Clock = std::chrono::steady_clock;

    std::uint64_t now() const { return at(Clock::now()); }
    /// The same for a moment after the begin.
    std::uint64_t at(Clock::time_point moment) const {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(moment - m_begin).count());
    }

private:
    Clock::time_point m_begin = Clock::now();
};

} // namespace shardscope::engine
