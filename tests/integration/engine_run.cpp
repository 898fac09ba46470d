// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/engine_run.h"

#include <QFile>
#include <QTest>
#include <QtEndian>

#include <cstring>

#include "device_agent/agent/event_collector.h"
#include "device_agent/agent/text_stream.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::tests {
namespace {

class KeepingSink final : public agent::EventSink {
public:
    explicit KeepingSink(std::vector<trace::Event>& events) : m_events(events) {}
    void take(std::span<const trace::Event> events) override {
        m_events.insert(m_events.end(), events.begin(), events.end());
    }

private:
    std::vector<trace::Event>& m_events;
};

} // namespace

plan::RunConfig configOf(Knobs knobs) {
    plan::RunConfig config;
    for (const auto& [flag, value] : knobs)
        if (const auto status = plan::setKnob(config, flag, value); !status)
            qFatal("%s", status.error().line().c_str());
    return config;
}

plan::BoardProfile testBoard() {
    plan::BoardProfile board;
    board.name = "test";
    board.cores = board.fastCores = 2;
    board.readLatencyNs = 5e4;
    board.readBytesPerSecond = 1e9;
    board.memoryBytesPerSecond = 2e10;
    board.memoryScale = 1.5;
    for (auto& rates : board.opsPerSecond)
        rates = {5e10, 5e10};
    board.opFixedNs = 2000;
    board.threadEfficiency = 0.9;
    return board;
}

std::string sampleModel() {
    return RESOURCES_DIR "/models/sample-whisper-commands.en.bin";
}

std::string sampleClip(const char* name) {
    return std::string(RESOURCES_DIR "/clips/") + name;
}

EngineRun runSample(
    const plan::RunConfig& config, const std::string& clip,
    const std::function<void(engine::RunRequest&)>& change) {
    return runModel(sampleModel(), config, clip, change);
}

EngineRun runModel(
    const std::string& path, const plan::RunConfig& knobs, const std::string& clip,
    const std::function<void(engine::RunRequest&)>& change) {
    EngineRun run;
    auto card = model::loadCard(path);
    if (!card) {
        run.status = card.error();
        return run;
    }
    engine::RunRequest request;
    request.modelPath = path;
    request.audioPath = clip;
    if (change)
        change(request);
    plan::RunConfig config = knobs;
    if (const auto prompt = engine::promptTokensFor(*card, config, request.promptIds))
        config.promptTokens = *prompt;
    auto planned = plan::planOrError(
        std::make_shared<const model::ModelCard>(std::move(*card)), config, testBoard());
    if (!planned) {
        run.status = planned.error();
        return run;
    }
    run.plan = std::make_shared<const plan::Plan>(std::move(*planned));
    run.trace.legend = plan::legendOf(*run.plan);
    const engine::RunClock clock;
    KeepingSink keep(run.trace.events);
    agent::EventCollector collector({&keep}, clock);
    auto engine =
        engine::Engine::open(*run.plan, request, {collector.computeRing(), collector.ioRing()});
    if (!engine) {
        run.status = engine.error();
        return run;
    }
    run.loader = (*engine)->loader();
    run.loaderReason = (*engine)->loaderReason();
    run.notes = (*engine)->notes();
    agent::TextStream text((*engine)->vocabulary(), {});
    collector.addSink(text);
    collector.start();
    run.status = (*engine)->run(clock);
    collector.finish();
    run.text = text.text();
    run.language = (*engine)->language();
    for (const trace::Event& e : run.trace.events) {
        if (e.kind == trace::EventKind::Token)
            run.tokens.push_back(e.id);
        run.trace.complete = run.trace.complete || e.kind == trace::EventKind::RunEnd;
    }
    return run;
}

std::vector<float> floatsOf(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray bytes = file.readAll();
    std::vector<float> values(static_cast<std::size_t>(bytes.size()) / sizeof(float));
    std::memcpy(values.data(), bytes.constData(), values.size() * sizeof(float));
    return values;
}

void writeLongClip(const std::string& clip, const QString& path) {
    QFile file(QString::fromStdString(clip));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray wav = file.readAll();
    const QByteArray sound = wav.mid(44);
    wav.resize(44);
    while (wav.size() < 40 * 16000 * 2)
        wav += sound;
    qToLittleEndian(static_cast<quint32>(wav.size() - 8), wav.data() + 4);
    qToLittleEndian(static_cast<quint32>(wav.size() - 44), wav.data() + 40);
    QFile out(path);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(wav);
}

} // namespace shardscope::tests
