// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/event_collector.h"

#include <algorithm>
#include <chrono>

#include "device_agent/agent/trim_process.h"

namespace shardscope::agent {
namespace {

using trace::CounterKind;
using trace::Event;
using trace::EventKind;

/// What a thread can say while the collector is away for some 40 ms.
constexpr std::uint32_t kComputeEvents = 4096, kIoEvents = 1024;
constexpr std::size_t kBatchEvents = 1024;
/// A ring fills in some 100 ms, a picture is drawn every 16.
constexpr auto kPause = std::chrono::milliseconds(5);
/// Samples of what is cheap to read, and of what the kernel has to walk page tables for.
constexpr std::uint64_t kSampleNs = 10'000'000;
constexpr std::uint64_t kSampleAllNs = 200'000'000;
/// When code that ran once, as most does when a run or one of its passes begins, is let go.
constexpr std::uint64_t kFirstReleaseNs = 30'000'000, kReleaseNs = 400'000'000;

} // namespace

EventCollector::EventCollector(std::vector<EventSink*> sinks, const engine::RunClock& clock)
    : m_sinks(std::move(sinks)), m_compute(kComputeEvents), m_io(kIoEvents), m_clock(clock) {
    m_batch.reserve(kBatchEvents + 64);
    m_drained.resize(kBatchEvents / 2); // of each of the two rings
}

void EventCollector::note(std::uint32_t index) {
    m_batch.push_back({m_clock.now(), 0, 0, index, EventKind::Note, trace::Lane::Sampler, 0});
}

void EventCollector::start() {
    m_thread = std::thread([this] { loop(); });
}

void EventCollector::finish() {
    if (!m_thread.joinable())
        return;
    m_stop.store(true, std::memory_order_release);
    m_thread.join();
    while (drain())
        pass();
    pass();
}

void EventCollector::loop() {
    std::uint64_t nextSample = 0, nextAll = 0, nextRelease = m_clock.now() + kFirstReleaseNs;
    while (!m_stop.load(std::memory_order_acquire)) {
        const std::uint64_t now = m_clock.now();
        if (now >= nextSample) {
            sample(now >= nextAll);
            nextSample = now + kSampleNs;
            nextAll = now >= nextAll ? now + kSampleAllNs : nextAll;
        }
        if (now >= nextRelease) {
            releaseCode();
            nextRelease = now + kReleaseNs;
        }
        const bool busy = drain();
        pass();
        if (!busy)
            std::this_thread::sleep_for(kPause);
    }
}

bool EventCollector::drain() {
    bool any = false;
    // The I/O lane goes first: its reads ended before the ops that waited for them.
    for (trace::EventRing* ring : {&m_io, &m_compute}) {
        const std::size_t n = ring->drain(m_drained);
        m_batch.insert(
            m_batch.end(), m_drained.begin(), m_drained.begin() + static_cast<std::ptrdiff_t>(n));
        any = any || n > 0;
        if (const std::uint64_t lost = ring->takeDropped())
            m_batch.push_back(
                {m_clock.now(), lost, 0, 0, EventKind::Dropped, trace::Lane::Sampler, 0});
    }
    return any;
}

void EventCollector::sample(bool everything) {
    counter(CounterKind::Rss, m_memory.rss());
    if (!everything)
        return;
    counter(CounterKind::Pss, m_memory.pss());
    counter(CounterKind::PageCache, m_memory.pageCache());
    counter(CounterKind::FreeRam, m_memory.freeRam());
    counter(CounterKind::IoBytes, m_memory.ioBytes());
    counter(CounterKind::Heat, m_board.heatMilliCelsius());
    counter(CounterKind::Clock, m_board.clockKhz());
    counter(CounterKind::SwapUsed, m_board.swapUsed());
}

void EventCollector::counter(CounterKind kind, std::optional<base::Bytes> bytes) {
    counter(kind, bytes ? std::optional(bytes->value) : std::nullopt);
}

void EventCollector::counter(CounterKind kind, std::optional<std::int64_t> value) {
    if (!value)
        return;
    m_batch.push_back(
        {m_clock.now(), static_cast<std::uint64_t>(std::max<std::int64_t>(*value, 0)), 0,
         static_cast<std::uint32_t>(kind), EventKind::Counter, trace::Lane::Sampler, 0});
}

void EventCollector::pass() {
    if (m_batch.empty())
        return;
    for (EventSink* sink : m_sinks)
        sink->take(m_batch);
    m_batch.clear();
}

} // namespace shardscope::agent
