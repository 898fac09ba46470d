// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>

namespace shardscope::app {

/// A moment by which something must have happened. A value.
class Deadline {
public:
    using Clock = std::chrono::steady_clock;

    explicit Deadline(std::chrono::milliseconds span) : m_end(Clock::now() + span) {}
    static Deadline never() { return Deadline(Clock::time_point::max()); }

    bool passed() const { return m_end != Clock::time_point::max() && Clock::now() >= m_end; }
    /// For poll(): what is left in ms, rounded up, at most `most`.
    int pollMs(int most = 3'600'000) const {
        if (m_end == Clock::time_point::max())
            return most;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_end - Clock::now());
        return static_cast<int>(std::clamp<long long>(left.count(), 0, most));
    }

private:
    explicit Deadline(Clock::time_point end) : m_end(end) {}
    Clock::time_point m_end;
};

} // namespace shardscope::app
