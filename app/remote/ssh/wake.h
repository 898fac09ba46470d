// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>

namespace shardscope::app {

/// Ends the waiting of a worker thread: it polls descriptor() beside its socket. Thread-safe.
class Wake {
public:
    Wake();
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    /// Readable after a ring until clear().
    int descriptor() const { return m_descriptor; }
    void ring();
    void clear();
    /// From now on every wait of the worker fails at once.
    void cancel();
    bool isCancelled() const { return m_cancelled.load(); }

private:
    int m_descriptor;
    std::atomic<bool> m_cancelled{false};
};

} // namespace shardscope::app
