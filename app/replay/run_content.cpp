// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/run_content.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "sim_engine/model/card_json.h"
#include "sim_engine/model/file_bytes.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;
using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

constexpr std::array<std::string_view, 6> kStateNames = {"empty",   "running", "done",
                                                         "stopped", "failed",  "partial"};

std::string textOf(const Json& document, const char* key) {
    const auto at = document.find(key);
    return at != document.end() && at->is_string() ? at->get<std::string>() : std::string();
}

} // namespace

Json errorToJson(const Error& error) {
    return {
        {"code", static_cast<int>(error.code)},
        {"what", error.what},
        {"where", error.where},
        {"mend", error.mend}};
}

Error errorFromJson(const Json& document) {
    Error error;
    if (!document.is_object()) {
        error.what = "an error without a description";
        return error;
    }
    const auto code = document.find("code");
    const int number = code != document.end() && code->is_number_integer() ? code->get<int>() : 5;
    error.code = number >= 2 && number <= 6 ? static_cast<ErrorCode>(number) : ErrorCode::Failed;
    error.what = textOf(document, "what");
    error.where = textOf(document, "where");
    error.mend = textOf(document, "mend");
    return error;
}

std::string_view runStateName(RunState state) {
    return kStateNames[static_cast<std::size_t>(state)];
}

RunState runStateByName(std::string_view name) {
    const auto at = std::find(kStateNames.begin(), kStateNames.end(), name);
    return at == kStateNames.end() ? RunState::Partial
                                   : static_cast<RunState>(at - kStateNames.begin());
}

RunContent::RunContent()
    : m_builder(std::make_unique<trace::RecordingBuilder>()), m_summary(trace().legend) {}

Status RunContent::add(const trace::Frame& frame) {
    if (frame.kind == trace::FrameKind::Control)
        return addControl(frame);
    const std::vector<trace::Event>& events = trace().events;
    const std::size_t first = events.size();
    if (Status status = m_builder->add(frame); !status)
        return status;
    for (std::size_t i = first; i < events.size(); ++i) {
        const trace::Event& e = events[i];
        m_summary.add(e);
        m_windows += e.kind == trace::EventKind::Window;
        m_tokens += e.kind == trace::EventKind::Token;
        if (e.kind == trace::EventKind::RunEnd)
            m_endCode = e.id;
    }
    return {};
}

Status RunContent::addControl(const trace::Frame& frame) {
    const Json document = trace::parseControl(frame.payload);
    if (document.is_object()) {
        // Another legend would give the ids of the events before it another meaning.
        if (m_hasRun && document.contains("run"))
            return Error{
                ErrorCode::BadInput, "a second run in one recording", "recording",
                "record each run by itself"};
        if (const auto text = document.find("text"); text != document.end() && text->is_object())
            m_text += textOf(*text, "append");
        if (const auto error = document.find("error"); error != document.end())
            m_error = errorFromJson(*error);
        if (const auto result = document.find("result");
            result != document.end() && result->is_object() && result->contains("text"))
            m_text = textOf(*result, "text");
    }
    if (Status status = m_builder->add(frame); !status)
        return status;
    if (document.contains("run"))
        return readRun(document["run"]);
    return {};
}

Status RunContent::readRun(const Json& run) {
    if (run.contains("config")) {
        auto config = plan::configFromJson(run["config"]);
        if (!config)
            return config.error();
        m_config = *config;
        // What a recording does not say was not used, whatever is known of the board by now.
        if (!m_config.usefulRead)
            m_config.usefulRead = base::Bytes(0);
    }
    if (run.contains("card")) {
        auto card = model::cardFromJson(run["card"]);
        if (!card)
            return card.error();
        m_card = std::make_shared<const model::ModelCard>(std::move(*card));
    }
    if (run.contains("board")) {
        auto board = plan::profileFromJson(run["board"]);
        if (!board)
            return board.error();
        m_board = std::move(*board);
    }
    m_audio = textOf(run, "audio");
    m_isCold = run.contains("cold") && run["cold"].is_boolean() && run["cold"].get<bool>();
    m_hasRun = true;
    return {};
}

RunState RunContent::ending() const {
    if (!m_hasRun && !m_error)
        return RunState::Empty;
    if (trace().complete && m_endCode == 1)
        return RunState::Stopped;
    if (m_error || (trace().complete && m_endCode != 0))
        return RunState::Failed;
    return recording().result.is_null() ? RunState::Partial : RunState::Done;
}

Result<RunContent> readRunFile(const std::string& path) {
    auto file = model::FileBytes::open(path);
    if (!file)
        return file.error();
    trace::FrameReader reader;
    RunContent content;
    std::vector<char> piece(1 << 20);
    for (Bytes at; at < file->size();) {
        const Bytes n(
            std::min(file->size().value - at.value, static_cast<std::int64_t>(piece.size())));
        if (Status status = file->read(at, piece.data(), n); !status)
            return status.error();
        at += n;
        reader.push({piece.data(), n.size()});
        while (const auto frame = reader.next())
            if (Status status = content.add(*frame); !status) {
                Error error = status.error();
                error.where = path + ": " + error.where;
                return error;
            }
    }
    if (!content.hasRun())
        return Error{
            ErrorCode::BadInput, "this is not a Shardscope recording, or it holds no run", path,
            "give a .sst file that `shardscope-agent run --trace` or `runs export` wrote"};
    return content;
}

} // namespace shardscope::app
