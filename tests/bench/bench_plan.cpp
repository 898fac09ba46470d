// SPDX-License-Identifier: GPL-3.0-or-later
// How long planning and simulating take: what one movement of a slider costs.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"

using namespace shardscope;

namespace {

plan::BoardProfile board() {
    plan::BoardProfile b;
    b.cores = b.fastCores = 4;
    b.readLatencyNs = 2e5;
    b.readBytesPerSecond = 2.8e8;
    b.memoryBytesPerSecond = 1.1e10;
    for (auto& rates : b.opsPerSecond)
        rates = {1e10, 1e10};
    return b;
}

struct Case {
    const char* card;
    const char* budget;
    const char* shard;
    const char* policy;
};

constexpr Case kCases[] = {
    {"tiny", "none", "1", "pin"},
    {"tiny", "40MiB", "1", "pin"},
    {"tiny", "32MiB", "tensor", "pin"},
    {"tiny", "40MiB", "sublayer", "lru"},
    {"tiny", "40MiB", "1", "random"},
    {"small", "200MiB", "sublayer", "pin"},
    {"large-v3", "700MiB", "tensor", "pin"},
};

std::shared_ptr<const model::ModelCard> card(const Case& c) {
    auto loaded = model::catalogCard(std::string("card:whisper-") + c.card);
    if (!loaded)
        std::abort();
    return std::make_shared<const model::ModelCard>(*std::move(loaded));
}

plan::RunConfig config(const Case& c) {
    plan::RunConfig run;
    run.maxTokens = 150;
    for (const auto& [flag, value] :
         {std::pair{"--budget", c.budget},
          {"--encoder-shard", c.shard},
          {"--decoder-shard", c.shard},
          {"--policy", c.policy}})
        if (!plan::setKnob(run, flag, value))
            std::abort();
    return run;
}

void name(benchmark::State& state, const Case& c) {
    state.SetLabel(std::string(c.card) + " " + c.budget + " " + c.shard + " " + c.policy);
}

plan::Plan planOf(const Case& c) {
    auto planned = plan::planOrError(card(c), config(c), board());
    if (!planned) {
        std::fprintf(stderr, "%s\n", planned.error().line().c_str());
        std::abort();
    }
    return *std::move(planned);
}

void planning(benchmark::State& state) {
    const Case& c = kCases[state.range(0)];
    const auto model = card(c);
    const auto run = config(c);
    const auto profile = board();
    for (auto _ : state)
        benchmark::DoNotOptimize(plan::planOrError(model, run, profile));
    name(state, c);
}

void simulating(benchmark::State& state) {
    const Case& c = kCases[state.range(0)];
    const plan::Plan p = planOf(c);
    const auto profile = board();
    std::size_t events = 0;
    for (auto _ : state) {
        const auto trace = sim::simulate(p, profile, {150, 1});
        events = trace.events.size();
        benchmark::DoNotOptimize(events);
    }
    state.counters["events"] = static_cast<double>(events);
    name(state, c);
}

void summarising(benchmark::State& state) {
    const Case& c = kCases[state.range(0)];
    const auto trace = sim::simulate(planOf(c), board(), {150, 1});
    for (auto _ : state)
        benchmark::DoNotOptimize(analyze::summarise(trace));
    name(state, c);
}

constexpr int kLast = static_cast<int>(std::size(kCases)) - 1;
BENCHMARK(planning)->DenseRange(0, kLast)->Unit(benchmark::kMicrosecond);
BENCHMARK(simulating)->DenseRange(0, kLast)->Unit(benchmark::kMicrosecond);
BENCHMARK(summarising)->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
