// SPDX-License-Identifier: GPL-3.0-or-later
// What a search costs: thousands of what-ifs on all cores, and whole searches.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include <QFile>

#include <nlohmann/json.hpp>

#include "app/replay/run_figures.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/plan/knobs.h"

using namespace shardscope;

namespace {

plan::BoardProfile board() {
    QFile file(QStringLiteral(RESOURCES_DIR "/boards/v851s-512m-nand.json"));
    if (!file.open(QIODevice::ReadOnly))
        std::abort();
    const QByteArray text = file.readAll();
    auto profile = plan::profileFromJson(
        nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false));
    if (!profile)
        std::abort();
    return *std::move(profile);
}

std::shared_ptr<const model::ModelCard> card(const char* name) {
    auto loaded = model::catalogCard(name);
    if (!loaded)
        std::abort();
    return std::make_shared<const model::ModelCard>(*std::move(loaded));
}

/// 10,000 different configurations of base.en, each planned and simulated for 150 tokens.
void whatIfs(benchmark::State& state) {
    const auto predict = app::simulatedFigures(
        card("card:whisper-base.en"), board(), {150, 1}, [] { return false; });
    std::vector<plan::RunConfig> configs;
    for (const char* shard : {"sublayer", "1", "2", "3"})
        for (int buffers = 1; buffers <= 4; ++buffers)
            for (const auto kv : {model::KvType::F16, model::KvType::Q8})
                for (const auto cross :
                     {model::KvType::F16, model::KvType::Q8, model::KvType::Shared})
                    for (int step = 0; configs.size() < 10'000 && step < 105; ++step) {
                        plan::RunConfig config;
                        config.maxTokens = 150;
                        if (!plan::setKnob(config, "decoder_shard", shard))
                            std::abort();
                        config.slotCount = buffers;
                        config.kv = kv;
                        config.crossKv = cross;
                        config.budget = base::kibibytes(60 * 1024 + step * 768);
                        configs.push_back(config);
                    }
    std::size_t feasible = 0;
    for (auto _ : state) {
        const auto figures = predict(configs);
        feasible = 0;
        for (const analyze::TuneFigures& f : figures)
            feasible += f.feasible ? 1 : 0;
    }
    state.counters["configurations"] = static_cast<double>(configs.size());
    state.counters["feasible"] = static_cast<double>(feasible);
}

void search(benchmark::State& state, const char* name, std::int64_t mebibytes) {
    const auto model = card(name);
    const auto profile = board();
    const auto predict = app::simulatedFigures(model, profile, {}, [] { return false; });
    analyze::TuneQuestion question;
    question.start.budget = base::mebibytes(mebibytes);
    std::int64_t tried = 0;
    for (auto _ : state) {
        const auto result = analyze::tune(
            *model, profile, question, predict,
            [](double, const analyze::TuneResult&) { return true; });
        tried = result.tried;
    }
    state.counters["tried"] = static_cast<double>(tried);
}

BENCHMARK(whatIfs)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(search, base_en, "card:whisper-base.en", 90)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(search, small, "card:whisper-small", 200)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

} // namespace

BENCHMARK_MAIN();
