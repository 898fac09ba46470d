// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "device_agent/agent/event_collector.h"
#include "sim_engine/base/result.h"

namespace shardscope::agent {

/// Writes frames to a descriptor: the wire of `serve`, or a recording. Thread-safe. After a failed
/// write it swallows what follows and keeps the error: a run goes on without its watcher.
class FrameOut {
public:
    explicit FrameOut(int descriptor) : m_fd(descriptor) {}

    void control(const nlohmann::ordered_json& document);
    void events(std::span<const trace::Event> events);
    /// A new run numbers its events from 0.
    void beginRun();

    base::Status status() const;

private:
    void write();

    mutable std::mutex m_lock;
    int m_fd;
    int m_errno = 0;
    std::string m_buffer;
    std::uint64_t m_controls = 0;
    std::uint64_t m_events = 0;
};

/// Puts a run's events into frames.
class StreamSink final : public EventSink {
public:
    explicit StreamSink(FrameOut& out) : m_out(out) {}
    void take(std::span<const trace::Event> events) override { m_out.events(events); }

private:
    FrameOut& m_out;
};

} // namespace shardscope::agent
