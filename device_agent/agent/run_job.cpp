// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/run_job.h"

#include "device_agent/agent/text_stream.h"
#include "device_agent/agent/trim_process.h"
#include "device_agent/engine/weights/page_cache.h"
#include "device_agent/probes/board_state.h"
#include "device_agent/probes/cpu_facts.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/base/format.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::agent {
namespace {

using Json = nlohmann::ordered_json;
using base::Error;
using base::Result;
using base::Status;

/// Sums up the events of a run. Takes all but the last from the collecting thread.
class SummarySink final : public EventSink {
public:
    explicit SummarySink(const trace::Legend& legend) : m_builder(legend) {}
    void take(std::span<const trace::Event> events) override {
        for (const trace::Event& e : events)
            m_builder.add(e);
    }
    analyze::Summary summary() const { return m_builder.summary(); }

private:
    analyze::SummaryBuilder m_builder;
};

Json header(const RunJob& job, const plan::Plan& plan, const trace::Legend& legend, int windows) {
    const std::string governor = probes::BoardState::open().governor();
    return {
        {"run",
         {{"version", SHARDSCOPE_VERSION},
          {"model", job.request.modelPath},
          {"audio", job.request.audioPath},
          {"windows", windows},
          {"cold", job.request.isCold},
          {"governor", governor},
          {"config", plan::toJson(plan.config)},
          {"card", model::toJson(*plan.card)},
          {"legend", trace::toJson(legend)}}}};
}

/// [{"start_ms", "end_ms", "text"}, ..]
Json toJson(const std::vector<tokenizer::Segment>& segments) {
    Json list = Json::array();
    for (const tokenizer::Segment& s : segments)
        list.push_back({{"start_ms", s.beginMs}, {"end_ms", s.endMs}, {"text", s.text}});
    return list;
}

} // namespace

plan::BoardProfile thisBoard() {
    plan::BoardProfile board;
    board.name = "local";
    board.cores = probes::cores();
    board.fastCores = probes::fastCores();
    return board;
}

Result<plan::Plan> planFor(const engine::RunRequest& request, const plan::RunConfig& knobs) {
    auto card = model::loadCard(request.modelPath);
    if (!card)
        return card.error();
    if (Status status = engine::checkSupported(*card, knobs); !status)
        return status.error();
    auto prompt = engine::promptTokensFor(*card, knobs, request.promptIds);
    if (!prompt)
        return prompt.error();
    plan::RunConfig config = knobs;
    config.promptTokens = *prompt;
    return plan::planOrError(
        std::make_shared<const model::ModelCard>(std::move(*card)), config, thisBoard());
}

namespace {

/// Lets the run begin as after a start of the machine; a sentence on how far that went.
Result<std::string> beginCold(const std::string& path) {
    auto file = engine::WeightFile::open(path);
    if (!file)
        return file.error();
    if (Status status = engine::forgetPages(*file); !status)
        return status.error();
    constexpr double kSome = 0.01;
    const double stays = engine::cachedShare(*file);
    return stays < kSome
               ? std::string("cold: nothing of the model was in the page cache")
               : base::formatted(
                     "cold: %.0f %% of the model stayed in the page cache, other programs use it",
                     stays * 100);
}

/// A run without events has no figures but its time.
Result<Json> untraced(engine::Engine& engine, const engine::RunClock& clock) {
    if (Status status = engine.run(clock); !status)
        return status.error();
    const double totalMs = static_cast<double>(clock.now()) * 1e-6;
    return Json{{"traced", false}, {"timing", {{"total_ms", totalMs}}}};
}

} // namespace

Result<Json> RunJob::perform() const {
    std::vector<std::string> notes;
    if (request.isCold) {
        auto cold = beginCold(request.modelPath);
        if (!cold)
            return cold.error();
        notes.push_back(std::move(*cold));
    }
    engine::RunRequest asked = request;
    asked.freeRam = probes::ProcessMemory::open().freeRam();
    auto plan = planFor(asked, config);
    if (!plan)
        return plan.error();
    trace::Legend legend = plan::legendOf(*plan);
    const engine::RunClock clock;
    SummarySink summary(legend);
    std::vector<EventSink*> sinks{&summary};
    std::unique_ptr<StreamSink> streamSink;
    if (stream)
        sinks.push_back((streamSink = std::make_unique<StreamSink>(*stream)).get());
    EventCollector collector(std::move(sinks), clock);
    auto engine = engine::Engine::open(*plan, asked, {collector.computeRing(), collector.ioRing()});
    if (!engine)
        return engine.error();
    if (!request.isTraced)
        return untraced(**engine, clock);
    notes.insert(notes.end(), (*engine)->notes().begin(), (*engine)->notes().end());
    legend.notes = notes;
    for (std::size_t i = 0; i < legend.notes.size(); ++i)
        collector.note(static_cast<std::uint32_t>(i));
    TextStream text((*engine)->vocabulary(), appendText);
    collector.addSink(text);
    if (stream) {
        stream->beginRun();
        stream->control(header(*this, *plan, legend, (*engine)->windows()));
    }
    releaseFreeHeap();
    probes::resetPeakRss();
    collector.start();
    const Status status = (*engine)->run(clock);
    collector.finish();
    if (!status)
        return status.error();
    analyze::Summary figures = summary.summary();
    // Samples can miss a peak; the kernel's high-water mark does not.
    if (const auto peak = probes::ProcessMemory::open().peakRss())
        figures.rssPeak = std::max(figures.rssPeak, peak->value);
    Json result =
        analyze::resultJson(figures, *plan, plan::loaderName((*engine)->loader()), text.text());
    if (plan->config.timestamps)
        result["segments"] = toJson(text.segments((*engine)->audioMs()));
    if (const auto language = (*engine)->language()) {
        result["language"] = tokenizer::Vocabulary::languageCode(language->id);
        result["language_probability"] = language->probability;
    }
    result["io"]["loader_reason"] = (*engine)->loaderReason();
    result["io"]["notes"] = notes;
    if (request.stop && request.stop->load())
        result["stopped"] = true;
    return result;
}

} // namespace shardscope::agent
