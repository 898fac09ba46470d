// SPDX-License-Identifier: GPL-3.0-or-later
// A stream of frames told as a run. The control frames of a run, in order:
//   {"run": {"config", "card", "board", "legend", "audio", "version"}}   before the first event
//   {"note": "..."}                                                      a fall-back and its reason
//   {"result": {...}} or {"error": {"code", "what", "where", "mend"}}    after the last event
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/trace/frame.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::trace {

/// The JSON of a control frame; discarded where it is none. What is nested deeper than any document
/// of ours is left out, so that no input exhausts the stack of those who walk the result.
nlohmann::ordered_json parseControl(std::string_view text);

/// What a recording holds beside its events.
struct Recording {
    Trace trace;
    nlohmann::ordered_json run;    ///< the value of "run"; null when the stream has none
    nlohmann::ordered_json result; ///< the value of "result"; null when the run did not end
    std::uint64_t skippedBytes = 0;
    std::uint64_t unknownEvents = 0;
};

/// Feeds frames into a Recording, live or from a file. Events that were seen before (by their
/// sequence number) are not taken twice; missing ones are counted as dropped. Thread-compatible.
class RecordingBuilder {
public:
    /// Takes a control or event frame that belongs to a run; BadInput for a legend or JSON that
    /// cannot be read, and for a second run. Event ids beyond the legend are counted as unknown and
    /// left out.
    base::Status add(const Frame& frame);

    const Recording& recording() const { return m_recording; }
    Recording take() { return std::move(m_recording); }

private:
    base::Status addControl(std::string_view text);
    void addEvents(const Frame& frame);
    bool isKnown(const Event& event) const;

    Recording m_recording;
    std::uint64_t m_nextSequence = 0;
};

/// Reads a whole .sst file; a file that ends in the middle gives the run up to there. BadInput
/// where the file cannot be read or holds no run.
base::Result<Recording> readRecording(const std::string& path);

} // namespace shardscope::trace
