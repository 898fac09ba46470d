// SPDX-License-Identifier: GPL-3.0-or-later
#include "document_maker.h"

#include <cstdlib>

#include "app/remote/board_source.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/simulate.h"
#include "sim_engine/trace/frame.h"

namespace shardscope::tests {

using Json = nlohmann::ordered_json;

plan::BoardProfile smallBoard() {
    auto board = app::presetBoard(QStringLiteral("v851s-512m-nand"));
    if (!board)
        std::abort();
    return *board;
}

std::string framesOfRun(base::Bytes budget) {
    auto card = model::catalogCard("card:whisper-tiny.en");
    plan::RunConfig config;
    config.budget = budget;
    const plan::BoardProfile board = smallBoard();
    auto plan =
        plan::planOrError(std::make_shared<const model::ModelCard>(card.value()), config, board);
    const trace::Trace trace = sim::simulate(plan.value(), board, {8, 1});
    const Json run{
        {"run",
         {{"config", plan::toJson(plan->config)},
          {"card", model::toJson(*plan->card)},
          {"board", plan::toJson(board)},
          {"legend", trace::toJson(trace.legend)},
          {"audio", "clip.wav"},
          {"version", "test"}}}};
    std::string frames;
    trace::appendControl(frames, 0, run.dump());
    std::uint64_t first = 0;
    constexpr std::size_t kPiece = 512;
    for (std::size_t at = 0; at < trace.events.size(); at += kPiece) {
        const std::size_t count = std::min(kPiece, trace.events.size() - at);
        trace::appendEvents(frames, first, {trace.events.data() + at, count});
        first += count;
    }
    const auto summary = analyze::summarise(trace);
    const Json result{{"result", analyze::resultJson(summary, *plan, "pread", "hello there")}};
    trace::appendControl(frames, first, result.dump());
    return frames;
}

void playRun(app::RunDocument& document, const std::string& frames) {
    trace::FrameReader reader;
    reader.push(frames);
    document.beginLive();
    while (const auto frame = reader.next())
        document.addFrame(*frame);
    document.endLive();
}

} // namespace shardscope::tests
