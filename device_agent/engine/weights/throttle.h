// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "sim_engine/base/units.h"

namespace shardscope::engine {

/// Makes reads as slow as a device of so many bytes per second: `--emulate-read`. One reader at a
/// time, as one device has. Thread-compatible.
class Throttle {
public:
    explicit Throttle(std::optional<base::Bytes> bytesPerSecond)
        : m_rate(bytesPerSecond ? bytesPerSecond->real() : 0) {}

    /// Called before a read.
    void begin();
    /// Called after a read of `bytes`: sleeps for what the device would still have needed.
    /// `stop` (may be null) ends the sleep early.
    void end(base::Bytes bytes, const std::atomic<bool>* stop = nullptr) const;

private:
    using Clock = std::chrono::steady_clock;
    double m_rate;
    Clock::time_point m_begin;
};

} // namespace shardscope::engine
