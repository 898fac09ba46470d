// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "device_agent/agent/event_collector.h"
#include "sim_engine/base/result.h"
#include "sim_engine/trace/frame.h"

namespace shardscope::agent {

/// Where whole frames go.
class FrameSink {
public:
    virtual ~FrameSink() = default;
    /// 0, or an errno after which nothing more is put.
    virtual int put(trace::FrameKind kind, std::string_view frame) = 0;
};

/// Writes frames to a descriptor, which stays the caller's: the wire of `serve`, or a recording.
class DescriptorSink final : public FrameSink {
public:
    explicit DescriptorSink(int descriptor) : m_fd(descriptor) {}
    int put(trace::FrameKind kind, std::string_view frame) override;

private:
    int m_fd;
};

/// Makes frames of documents and events, and numbers them. Thread-safe. After a failure of its sink
/// it swallows what follows and keeps the error: a run goes on without its watcher.
class FrameOut {
public:
    /// The sink must outlive this.
    explicit FrameOut(FrameSink& sink) : m_sink(sink) {}

    void control(const nlohmann::ordered_json& document);
    void events(std::span<const trace::Event> events);
    /// Whole frames that another one made, as they are.
    void relay(trace::FrameKind kind, std::string_view frames);
    /// A new run numbers its events from 0.
    void beginRun();

    base::Status status() const;

private:
    void put(trace::FrameKind kind);

    mutable std::mutex m_lock;
    FrameSink& m_sink;
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
