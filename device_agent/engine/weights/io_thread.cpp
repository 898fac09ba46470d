// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/io_thread.h"

#include <algorithm>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace shardscope::engine {

IoThread::IoThread(
    const plan::Plan& plan, ShardLoader& loader, const RunClock& clock, trace::EventRing* events)
    : m_plan(plan), m_loader(loader), m_clock(clock), m_events(events),
      m_throttle(plan.config.emulateRead), m_queue(plan.shards.size() + 1),
      m_lastLoad(plan.shards.size()), m_thread([this] { loop(); }) {}

void IoThread::stop() {
    if (!m_thread.joinable())
        return;
    m_stop.store(true, std::memory_order_release);
    m_issued.fetch_add(1, std::memory_order_release); // wakes the thread; m_stop is looked at first
    m_issued.notify_one();
    m_thread.join();
}

void IoThread::issue(base::ShardId shard, std::byte* place) {
    const std::uint32_t number = m_issued.load(std::memory_order_relaxed);
    m_queue[number % m_queue.size()] = {shard, place, RunClock::Clock::now()};
    m_lastLoad[shard.index()] = number + 1;
    m_issued.store(number + 1, std::memory_order_release);
    m_issued.notify_one();
}

void IoThread::waitFor(std::uint32_t count) {
    for (;;) {
        const std::uint32_t done = m_done.load(std::memory_order_acquire);
        if (done >= count || failed())
            return;
        m_done.wait(done, std::memory_order_acquire);
    }
}

void IoThread::loop() {
    // The kernel may end a sleep this much late: 50 us unless told, 1 us for the throttle.
    ::prctl(PR_SET_TIMERSLACK, 1000);
    // It works for microseconds a read, and the device idles while it waits for a core that
    // computes: it goes first where we may say so.
    ::setpriority(PRIO_PROCESS, 0, -10);
    for (;;) {
        if (!beginLoads()) {
            if (m_stop.load(std::memory_order_acquire))
                return;
            m_issued.wait(m_begun, std::memory_order_acquire);
            continue;
        }
        const auto oldestIsDone = m_loader.advance();
        if (!oldestIsDone)
            fail(oldestIsDone.error());
        if (!oldestIsDone || *oldestIsDone)
            finishLoad();
        if (!oldestIsDone)
            return;
    }
}

bool IoThread::beginLoads() {
    const std::uint32_t issued = m_issued.load(std::memory_order_acquire);
    const std::uint32_t done = m_done.load(std::memory_order_relaxed);
    // stop() is told before the count that wakes us, which stands for no load.
    if (!m_stop.load(std::memory_order_acquire))
        for (; m_begun != issued && m_begun - done < m_loader.depth(); ++m_begun)
            m_loader.begin(m_plan.shard(load(m_begun).shard), load(m_begun).place);
    return m_begun != done;
}

void IoThread::fail(const base::Error& error) {
    const std::lock_guard lock(m_errorLock);
    m_error = error;
    m_failed.store(true, std::memory_order_release);
}

void IoThread::finishLoad() {
    const std::uint32_t number = m_done.load(std::memory_order_relaxed);
    const Load done = load(number);
    const plan::Shard& shard = m_plan.shard(done.shard);
    m_throttle.deliver(done.asked, shard.bytes, &m_stop);
    const std::uint64_t begin = std::max(m_clock.at(done.asked), m_lastEnd);
    m_lastEnd = m_clock.now();
    if (m_events)
        m_events->push(
            {begin, m_lastEnd - begin, static_cast<std::uint64_t>(shard.bytes.value),
             done.shard.value, trace::EventKind::Read, trace::Lane::Io, 0});
    m_done.store(number + 1, std::memory_order_release);
    m_done.notify_one();
}

base::Error IoThread::error() const {
    const std::lock_guard lock(m_errorLock);
    return m_error;
}

} // namespace shardscope::engine
