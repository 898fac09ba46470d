// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "device_agent/engine/weights/run_clock.h"
#include "device_agent/probes/board_state.h"
#include "device_agent/probes/process_memory.h"
#include "sim_engine/trace/event.h"
#include "sim_engine/trace/event_ring.h"

namespace shardscope::agent {

/// Takes events in the order in which they were collected; called by the collecting thread.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void take(std::span<const trace::Event> events) = 0;
};

/// Drains the rings of a run into the sinks, and adds what it samples of the process: one thread
/// between the engine, which never waits, and the world, which may.
class EventCollector {
public:
    /// Sinks and clock must outlive the collector.
    EventCollector(std::vector<EventSink*> sinks, const engine::RunClock& clock);
    ~EventCollector() { finish(); }
    EventCollector(const EventCollector&) = delete;
    EventCollector& operator=(const EventCollector&) = delete;

    trace::EventRing& computeRing() { return m_compute; }
    trace::EventRing& ioRing() { return m_io; }

    /// Before start().
    void addSink(EventSink& sink) { m_sinks.push_back(&sink); }
    /// Before start(): an event that stands for a note of the legend.
    void note(std::uint32_t index);
    /// Begins to collect.
    void start();
    /// Collects what is left and ends.
    void finish();

private:
    void loop();
    /// True when anything was drained.
    bool drain();
    void sample(bool everything);
    void counter(trace::CounterKind kind, std::optional<base::Bytes> bytes);
    void counter(trace::CounterKind kind, std::optional<std::int64_t> value);
    void pass();

    std::vector<EventSink*> m_sinks;
    trace::EventRing m_compute, m_io;
    const engine::RunClock& m_clock; ///< that of the run
    probes::ProcessMemory m_memory = probes::ProcessMemory::open();
    probes::BoardState m_board = probes::BoardState::open();
    std::vector<trace::Event> m_batch, m_drained;
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

} // namespace shardscope::agent
