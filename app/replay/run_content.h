// SPDX-License-Identifier: GPL-3.0-or-later
// What the frames of one run add up to. No Qt objects: it is read on a worker and handed over.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/base/result.h"
#include "sim_engine/model/model_card.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/run_config.h"
#include "sim_engine/trace/frame.h"
#include "sim_engine/trace/recording.h"

namespace shardscope::app {

/// {"code", "what", "where", "mend"}, the form of errors on the wire and in recordings.
nlohmann::ordered_json errorToJson(const base::Error& error);
base::Error errorFromJson(const nlohmann::ordered_json& document);

/// How a run stands, or how it ended.
enum class RunState {
    Empty,   ///< nothing yet
    Running, ///< live
    Done,
    Stopped, ///< by the user; what was recorded stays
    Failed,  ///< the engine said why
    Partial, ///< the stream ended before the run did: a dead agent, a lost link, a torn file
};

/// "done", "stopped", ...: the words of the store and of `runs list`.
std::string_view runStateName(RunState state);
RunState runStateByName(std::string_view name);

/// One run, taken frame by frame. Thread-compatible; can be moved, trace() stays where it is.
class RunContent {
public:
    RunContent();
    /// Takes a frame of the run. BadInput where it cannot be read.
    base::Status add(const trace::Frame& frame);

    const trace::Recording& recording() const { return m_builder->recording(); }
    const trace::Trace& trace() const { return m_builder->recording().trace; }
    bool hasRun() const { return m_hasRun; }
    const plan::RunConfig& config() const { return m_config; }
    const plan::BoardProfile& board() const { return m_board; }
    std::shared_ptr<const model::ModelCard> card() const { return m_card; }
    /// The text so far, or that of the result.
    const std::string& text() const { return m_text; }
    /// The audio file as the run was started with it; may be empty.
    const std::string& audio() const { return m_audio; }
    /// It began with nothing of the model in the page cache.
    bool isCold() const { return m_isCold; }
    const std::optional<base::Error>& error() const { return m_error; }
    analyze::Summary summary() const { return m_summary.summary(); }
    std::int32_t windows() const { return m_windows; }
    std::int32_t tokens() const { return m_tokens; }
    /// How the run ended, judged by its frames alone: Partial where its end is missing.
    RunState ending() const;

private:
    base::Status addControl(const trace::Frame& frame);
    base::Status readRun(const nlohmann::ordered_json& run);

    std::unique_ptr<trace::RecordingBuilder> m_builder; ///< on the heap: m_summary refers to it
    analyze::SummaryBuilder m_summary;
    plan::RunConfig m_config;
    plan::BoardProfile m_board;
    std::shared_ptr<const model::ModelCard> m_card;
    std::string m_text;
    std::string m_audio;
    std::optional<base::Error> m_error;
    std::uint32_t m_endCode = 0;
    std::int32_t m_windows = 0;
    std::int32_t m_tokens = 0;
    bool m_isCold = false;
    bool m_hasRun = false;
};

/// Reads a whole .sst file; one that ends in the middle gives the run up to there. BadInput where
/// it cannot be read or holds no run. Thread-safe.
base::Result<RunContent> readRunFile(const std::string& path);

} // namespace shardscope::app
