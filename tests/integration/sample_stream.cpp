// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/sample_stream.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include <nlohmann/json.hpp>

#include "app/remote/board_source.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"
#include "sim_engine/trace/frame.h"

namespace shardscope::testing {

namespace {

constexpr std::size_t kChunk = 64;

std::string controlFrame(const nlohmann::ordered_json& document) {
    std::string frame;
    trace::appendControl(frame, 0, document.dump());
    return frame;
}

} // namespace

std::string SampleStream::whole() const {
    return cutAfter(chunks.size()) + result;
}

std::string SampleStream::cutAfter(std::size_t count) const {
    std::string all = header + text;
    for (std::size_t i = 0; i < count; ++i)
        all += chunks[i];
    return all;
}

SampleStream sampleStream(int runId, bool withBoard) {
    SampleStream s;
    s.card = std::make_shared<const model::ModelCard>(
        model::catalogCard("card:whisper-tiny.en").value());
    s.board = app::presetBoard(QStringLiteral("rk3588-16g-emmc")).value();
    plan::RunConfig config;
    config.budget = base::mebibytes(48);
    s.plan = std::make_unique<plan::Plan>(plan::planOrError(s.card, config, s.board).value());
    s.trace = sim::simulate(*s.plan, s.board, {4, 1});
    s.summary = analyze::summarise(s.trace);

    nlohmann::ordered_json run = {
        {"version", "0.1.0"},
        {"audio", "/somewhere/window.wav"},
        {"config", plan::toJson(s.plan->config)},
        {"card", model::toJson(*s.card)},
        {"legend", trace::toJson(s.trace.legend)}};
    if (withBoard)
        run["board"] = plan::toJson(s.board);
    s.header = controlFrame({{"run", run}});
    const std::span<const trace::Event> events = s.trace.events;
    for (std::size_t at = 0; at < events.size(); at += kChunk) {
        std::string frame;
        trace::appendEvents(frame, at, events.subspan(at, std::min(kChunk, events.size() - at)));
        s.chunks.push_back(std::move(frame));
    }
    s.text = controlFrame({{"text", {{"append", kSampleText}}}});
    s.result = controlFrame(
        {{"id", runId}, {"result", analyze::resultJson(s.summary, *s.plan, "uring", kSampleText)}});
    return s;
}

} // namespace shardscope::testing
