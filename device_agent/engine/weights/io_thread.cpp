// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/io_thread.h"

namespace shardscope::engine {

IoThread::IoThread(
    const plan::Plan& plan, ShardLoader& loader, const RunClock& clock, trace::EventRing& events)
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
    m_queue[number % m_queue.size()] = {shard, place};
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
    for (std::uint32_t done = 0;; ++done) {
        m_issued.wait(done, std::memory_order_acquire);
        if (m_stop.load(std::memory_order_acquire))
            return;
        const Load load = m_queue[done % m_queue.size()];
        const plan::Shard& shard = m_plan.shard(load.shard);
        const std::uint64_t begin = m_clock.now();
        m_throttle.begin();
        const base::Status status = m_loader.load(shard, load.place);
        m_throttle.end(shard.bytes, &m_stop);
        if (!status && !failed()) {
            const std::lock_guard lock(m_errorLock);
            m_error = status.error();
            m_failed.store(true, std::memory_order_release);
        }
        m_events.push(
            {begin, m_clock.now() - begin, static_cast<std::uint64_t>(shard.bytes.value),
             load.shard.value, trace::EventKind::Read, trace::Lane::Io, 0});
        m_done.store(done + 1, std::memory_order_release);
        m_done.notify_one();
    }
}

base::Error IoThread::error() const {
    const std::lock_guard lock(m_errorLock);
    return m_error;
}

} // namespace shardscope::engine
