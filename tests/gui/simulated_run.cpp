// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/simulated_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QFile>
#include <nlohmann/json.hpp>

#include "sim_engine/analyze/memory_series.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/simulate.h"

namespace shardscope::tests {

using trace::CounterKind;
using trace::Event;
using trace::EventKind;

namespace {

template <typename T>
T valueOf(base::Result<T> result) {
    if (!result.ok())
        qFatal("%s", result.error().line().c_str());
    return std::move(*result);
}

plan::BoardProfile boardOf(const std::string& name) {
    QFile file(QStringLiteral(RESOURCES_DIR "/boards/%1.json").arg(QString::fromStdString(name)));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no board %s", name.c_str());
    return valueOf(
        plan::profileFromJson(nlohmann::ordered_json::parse(file.readAll().toStdString())));
}

/// Maps a time of the simulation to one of the run: the clock runs a little faster and slower by
/// turns, but never back.
std::uint64_t wavered(std::uint64_t t) {
    const double s = static_cast<double>(t) * 1e-9;
    return static_cast<std::uint64_t>(
        1e9 * (s * 1.04 + 0.004 * std::sin(s * 9) + 0.0007 * std::sin(s * 141)));
}

} // namespace

std::shared_ptr<const trace::Trace> simulatedRun(
    const std::string& card, const std::string& board, std::int32_t tokens,
    const std::vector<std::string>& knobs, std::int32_t windows) {
    plan::RunConfig config;
    for (std::size_t i = 0; i + 1 < knobs.size(); i += 2)
        if (const base::Status set = plan::setKnob(config, knobs[i], knobs[i + 1]); !set.ok())
            qFatal("%s", set.error().line().c_str());
    const plan::BoardProfile profile = boardOf(board);
    auto model = std::make_shared<model::ModelCard>(valueOf(model::catalogCard(card)));
    const plan::Plan plan = valueOf(plan::planOrError(model, config, profile));
    sim::Workload work;
    work.tokens = tokens;
    work.windows = windows;
    return std::make_shared<trace::Trace>(sim::simulate(plan, profile, work));
}

trace::Trace asMeasured(const trace::Trace& simulated) {
    constexpr std::uint64_t kSampleNs = 10'000'000;
    constexpr std::int64_t kAgentBytes = 3 << 20;
    trace::Trace run = simulated;
    run.events.clear();
    analyze::MemorySeries memory;
    std::uint64_t nextSample = 0;
    for (Event e : simulated.events) {
        const std::uint64_t end = wavered(static_cast<std::uint64_t>(e.end().value));
        e.t_ns = wavered(e.t_ns);
        if (e.isSpan())
            e.a = end - e.t_ns;
        for (; nextSample <= end; nextSample += kSampleNs) {
            const base::Nanos t(static_cast<std::int64_t>(nextSample));
            Event sample;
            sample.kind = EventKind::Counter;
            sample.lane = trace::Lane::Sampler;
            sample.t_ns = nextSample;
            sample.id = static_cast<std::uint32_t>(CounterKind::Rss);
            sample.a = static_cast<std::uint64_t>(memory.totalAt(t).value + kAgentBytes);
            run.events.push_back(sample);
        }
        memory.add(e, run.legend);
        run.events.push_back(e);
    }
    return run;
}

} // namespace shardscope::tests
