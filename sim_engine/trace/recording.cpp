// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/trace/recording.h"

#include <algorithm>
#include <vector>

#include "sim_engine/model/file_bytes.h"

namespace shardscope::trace {

using Json = nlohmann::ordered_json;
using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Status;

Json parseControl(std::string_view text) {
    constexpr int kDeepest = 32;
    return Json::parse(
        text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; }, false);
}

Status RecordingBuilder::add(const Frame& frame) {
    if (frame.kind == FrameKind::Control)
        return addControl(frame.payload);
    addEvents(frame);
    return {};
}

Status RecordingBuilder::addControl(std::string_view text) {
    const Json document = parseControl(text);
    if (!document.is_object())
        return Error{
            ErrorCode::BadInput, "a control frame that is no JSON object", "recording",
            "record the run again"};
    if (document.contains("run")) {
        // Another legend would give the ids of the events before it another meaning.
        if (!m_recording.run.is_null() || !m_recording.trace.events.empty())
            return Error{
                ErrorCode::BadInput, "a second run, or one that begins after its events",
                "recording", "record each run by itself"};
        m_recording.run = document["run"];
        if (!m_recording.run.is_object() || !m_recording.run.contains("legend"))
            return Error{
                ErrorCode::BadInput, "a run without a legend", "recording", "record it again"};
        auto legend = legendFromJson(m_recording.run["legend"]);
        if (!legend)
            return legend.error();
        m_recording.trace.legend = std::move(*legend);
    }
    if (document.contains("note") && document["note"].is_string())
        m_recording.trace.legend.notes.push_back(document["note"].get<std::string>());
    if (document.contains("result"))
        m_recording.result = document["result"];
    return {};
}

void RecordingBuilder::addEvents(const Frame& frame) {
    const std::uint64_t count = frame.eventCount();
    if (frame.sequence > m_nextSequence)
        m_recording.trace.dropped += frame.sequence - m_nextSequence;
    const std::uint64_t known =
        m_nextSequence > frame.sequence ? std::min(m_nextSequence - frame.sequence, count) : 0;
    for (std::uint64_t i = known; i < count; ++i) {
        const Event e = frame.event(static_cast<std::size_t>(i));
        if (!isKnown(e)) {
            ++m_recording.unknownEvents;
            continue;
        }
        if (e.kind == EventKind::Dropped)
            m_recording.trace.dropped += e.a;
        if (e.kind == EventKind::RunEnd)
            m_recording.trace.complete = true;
        m_recording.trace.events.push_back(e);
    }
    m_nextSequence = std::max(m_nextSequence, frame.sequence + count);
}

/// Views index by these numbers, so none may lie beyond the legend, and no time may overflow.
bool RecordingBuilder::isKnown(const Event& e) const {
    const Legend& legend = m_recording.trace.legend;
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 61;
    if (e.t_ns > kLongest || e.a > kLongest || e.b > kLongest ||
        static_cast<std::size_t>(e.lane) >= kLaneCount)
        return false;
    switch (e.kind) {
    case EventKind::Compute:
        return e.id < legend.ops.size() && e.aux < model::kPassCount;
    case EventKind::Read:
        return e.id < legend.shards.size() || e.id == kRowRead;
    case EventKind::Stall:
    case EventKind::Load:
    case EventKind::Evict:
        return e.id < legend.shards.size();
    case EventKind::Alloc:
    case EventKind::Free:
        return e.id < legend.buffers.size() && e.aux < model::kRegionCount;
    case EventKind::Counter:
        return e.id < kCounterCount;
    case EventKind::Phase:
        return e.id < model::kPassCount;
    default:
        return static_cast<std::uint8_t>(e.kind) >= 1 &&
               static_cast<std::uint8_t>(e.kind) <= kLastEventKind;
    }
}

base::Result<Recording> readRecording(const std::string& path) {
    auto file = model::FileBytes::open(path);
    if (!file)
        return file.error();
    FrameReader reader;
    RecordingBuilder builder;
    std::vector<char> piece(1 << 20);
    const auto takeAll = [&]() -> Status {
        while (const auto frame = reader.next())
            if (Status status = builder.add(*frame); !status)
                return status;
        return {};
    };
    for (Bytes at; at < file->size();) {
        const Bytes n(
            std::min(file->size().value - at.value, static_cast<std::int64_t>(piece.size())));
        if (Status status = file->read(at, piece.data(), n); !status)
            return status.error();
        at += n;
        reader.push({piece.data(), n.size()});
        if (Status status = takeAll(); !status)
            return status.error();
    }
    reader.end();
    if (Status status = takeAll(); !status)
        return status.error();
    Recording recording = builder.take();
    recording.skippedBytes = reader.skippedBytes() + reader.pendingBytes();
    if (recording.run.is_null())
        return Error{
            ErrorCode::BadInput, "this is not a Shardscope recording, or it holds no run", path,
            "give a .sst file that `run --trace` wrote"};
    return recording;
}

} // namespace shardscope::trace
