// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "device_agent/engine/weights/run_clock.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/throttle.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/event_ring.h"

namespace shardscope::engine {

/// Does the loads of a run in the order in which they were issued, and traces each: one after the
/// other, or as many together as the loader takes. A load's span is the time in which it was the
/// oldest, so spans do not overlap.
/// issue(), await(), drain() and stop() belong to the compute thread; they allocate nothing.
class IoThread {
public:
    /// `events` may be null: nothing is traced.
    IoThread(
        const plan::Plan& plan, ShardLoader& loader, const RunClock& clock,
        trace::EventRing* events);
    ~IoThread() { stop(); }
    IoThread(const IoThread&) = delete;
    IoThread& operator=(const IoThread&) = delete;

    /// Hands over a load; returns at once.
    void issue(base::ShardId shard, std::byte* place);
    /// Returns when the last load of this shard is done, or one has failed.
    void await(base::ShardId shard) { waitFor(m_lastLoad[shard.index()]); }
    /// Returns when all loads are done.
    void drain() { waitFor(m_issued.load(std::memory_order_relaxed)); }

    /// Gives up what has not begun, and returns when nothing is under way; no load comes after it.
    void stop();

    bool failed() const { return m_failed.load(std::memory_order_acquire); }
    /// The first error; call when failed().
    base::Error error() const;

private:
    struct Load {
        base::ShardId shard;
        std::byte* place = nullptr;
        RunClock::Clock::time_point asked{};
    };
    void loop();
    /// Hands what was issued to the loader, as much as it takes; true when any is under way.
    bool beginLoads();
    void fail(const base::Error& error);
    /// The oldest load that was begun is done.
    void finishLoad();
    void waitFor(std::uint32_t count);
    const Load& load(std::uint32_t number) const { return m_queue[number % m_queue.size()]; }

    const plan::Plan& m_plan;
    ShardLoader& m_loader;
    const RunClock& m_clock;
    trace::EventRing* m_events;
    Throttle m_throttle;
    std::vector<Load> m_queue;             ///< a ring; a shard waits in it once at the most
    std::vector<std::uint32_t> m_lastLoad; ///< by ShardId: number of its last load
    std::atomic<std::uint32_t> m_issued{0};
    std::uint32_t m_begun = 0; ///< of the I/O thread, as is m_lastEnd
    std::uint64_t m_lastEnd = 0;
    std::atomic<std::uint32_t> m_done{0};
    std::atomic<bool> m_failed{false};
    std::atomic<bool> m_stop{false};
    mutable std::mutex m_errorLock;
    base::Error m_error;
    std::thread m_thread;
};

} // namespace shardscope::engine
