// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "sim_engine/base/units.h"

namespace shardscope::engine {

/// Makes reads as slow as a device of so many bytes per second: `--emulate-read`. The device serves
/// one read after the other, each from when it was asked for or the one before it ends. A sleep
/// that took too long is made up for by the next read. Thread-compatible.
class Throttle {
public:
    using Clock = std::chrono::steady_clock;

    explicit Throttle(std::optional<base::Bytes> bytesPerSecond)
        : m_rate(bytesPerSecond ? bytesPerSecond->real() : 0) {}

    bool isOn() const { return m_rate > 0; }
    /// Called after a read of `bytes` that was asked for then: sleeps until the device would have
    /// ended it. `stop` (may be null) ends the sleep early.
    void deliver(Clock::time_point asked, base::Bytes bytes, const std::atomic<bool>* stop);

private:
    double m_rate;
    Clock::time_point m_free{}; ///< when the device has ended what it was asked for
};

} // namespace shardscope::engine
