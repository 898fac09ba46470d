// SPDX-License-Identifier: GPL-3.0-or-later
// Files of version 1 of each format stand in tests/data/formats and must stay readable for ever.
// They were written once, by this test with SHARDSCOPE_WRITE_FORMATS=1 in the environment.
#include <QDir>
#include <QFile>
#include <QTest>

#include "plan_fixtures.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"
#include "sim_engine/trace/recording.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using trace::Event;
using trace::EventKind;

namespace {

const QString kFolder = QStringLiteral(TEST_DATA_DIR "/formats/");

bool writes() {
    return qEnvironmentVariableIsSet("SHARDSCOPE_WRITE_FORMATS");
}

std::string contents(const char* name) {
    QFile file(kFolder + QLatin1String(name));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot read %s", name);
    return file.readAll().toStdString();
}

void store(const char* name, const std::string& bytes) {
    QDir().mkpath(kFolder);
    QFile file(kFolder + QLatin1String(name));
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(bytes.data(), static_cast<qint64>(bytes.size())) < 0)
        qFatal("cannot write %s", name);
}

Json json(const char* name) {
    return Json::parse(contents(name));
}

/// A value for every knob, none of them the default.
plan::RunConfig everyKnob() {
    plan::RunConfig config;
    for (const auto& [flag, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"--budget", "40MiB"},
             {"--encoder-shard", "tensor"},
             {"--decoder-shard", "sublayer"},
             {"--vocab-shards", "40"},
             {"--pin", "5MiB"},
             {"--policy", "belady"},
             {"--slots", "3"},
             {"--loader", "populate"},
             {"--kv", "q8"},
             {"--cross-kv", "shared"},
             {"--cross-keep", "0.5"},
             {"--threads", "4"},
             {"--batch", "2"},
             {"--beam", "5"},
             {"--language", "de"},
             {"--timestamps", "on"},
             {"--max-tokens", "100"},
             {"--audio-ctx", "700"},
             {"--emulate-read", "50MB/s"}})
        if (!plan::setKnob(config, flag, value))
            qFatal("no such knob: %s", flag);
    config.promptTokens = 7;
    return config;
}

trace::Legend legend() {
    trace::Legend l;
    l.planHash = "0123456789abcdef";
    l.peak = base::Bytes(20480);
    l.budget = base::mebibytes(1);
    for (int kind = 0; kind < 6; ++kind)
        l.ops.push_back(
            {"op " + std::to_string(kind), static_cast<model::OpKind>(kind), kind - 1,
             kind < 2 ? static_cast<std::uint32_t>(kind) : base::ShardId::kNone});
    l.shards = {
        {"encoder layer 0", base::Bytes(5000), base::Bytes(8192), false},
        {"decoder layer 0", base::Bytes(4000), base::Bytes(4096), true}};
    for (int region = 0; region < 7; ++region)
        l.buffers.push_back(
            {"buffer " + std::to_string(region), static_cast<model::Region>(region),
             base::Bytes(512 * region)});
    l.notes = {"pread: io_uring is not there"};
    return l;
}

/// One event of each kind.
std::vector<Event> events() {
    std::vector<Event> all;
    for (std::uint8_t kind = 1; kind <= 15; ++kind) {
        Event e;
        e.t_ns = 1000u * kind;
        e.a = 10 + kind;
        e.b = 20 + kind;
        e.id = kind == static_cast<std::uint8_t>(EventKind::Read) ? trace::kRowRead : 1u;
        e.kind = static_cast<EventKind>(kind);
        e.lane = static_cast<trace::Lane>(kind % 3);
        e.aux = 2;
        all.push_back(e);
    }
    return all;
}

std::string recording() {
    std::string bytes = "a login banner\r\n";
    const Json run{
        {"config", toJson(everyKnob())},
        {"board", toJson(test::board())},
        {"legend", toJson(legend())},
        {"audio", "clip.wav"},
        {"version", "0.1.0"}};
    trace::appendControl(bytes, 0, Json{{"run", run}}.dump());
    const auto all = events();
    trace::appendEvents(bytes, 0, std::span(all).first(10));
    trace::appendControl(bytes, 1, R"({"note":"a second note"})");
    trace::appendEvents(bytes, 10, std::span(all).subspan(10));
    trace::appendControl(bytes, 2, R"({"result":{"text":"hello","n_tokens":1}})");
    return bytes;
}

} // namespace

class TestFormats : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void readsTheRecording();
    void writesTheRecordingStillAlike();
    void readsTheConfiguration();
    void readsTheProfile();
    void readsTheLegend();
    void readsTheCard();
    void numbersInTracesKeepTheirMeaning();
};

void TestFormats::initTestCase() {
    if (!writes())
        return;
    store("recording-1.sst", recording());
    store("config-1.json", toJson(everyKnob()).dump(1) + "\n");
    store("profile-1.json", toJson(test::board()).dump(1) + "\n");
    store("legend-1.json", toJson(legend()).dump(1) + "\n");
    model::ModelCard card = *test::card("sample");
    card.tensors.resize(6);
    store("card-1.json", toJson(card).dump(1) + "\n");
}

void TestFormats::readsTheRecording() {
    const auto r = trace::readRecording((kFolder + "recording-1.sst").toStdString());
    QVERIFY2(r.ok(), test::lineOf(r).c_str());
    QVERIFY(r->trace.events == events());
    QCOMPARE(r->unknownEvents, std::uint64_t{0});
    QCOMPARE(r->skippedBytes, std::uint64_t{16});
    QCOMPARE(r->trace.dropped, std::uint64_t{10 + 13}); // what the Dropped event says
    QVERIFY(r->trace.complete);
    QCOMPARE(r->trace.legend.notes.size(), std::size_t{2});
    QCOMPARE(r->trace.legend.planHash, std::string("0123456789abcdef"));
    QCOMPARE(r->result["text"].get<std::string>(), std::string("hello"));
    QVERIFY(*plan::configFromJson(r->run["config"]) == everyKnob());
    QVERIFY(plan::profileFromJson(r->run["board"]).ok());
    const analyze::Summary s = analyze::summarise(r->trace);
    QCOMPARE(s.tokens, std::vector<std::uint32_t>{1});
}

/// Bytes of today's writer are those of version 1: agents and desktops of both ages understand
/// each other. A new field needs a new version, and its own golden file beside this one.
void TestFormats::writesTheRecordingStillAlike() {
    std::string bytes = "a login banner\r\n";
    const std::string golden = contents("recording-1.sst");
    trace::FrameReader reader;
    reader.push(golden);
    while (const auto frame = reader.next())
        trace::appendFrame(bytes, frame->kind, frame->sequence, std::string(frame->payload));
    QVERIFY(bytes == golden);
}

void TestFormats::readsTheConfiguration() {
    const auto config = plan::configFromJson(json("config-1.json"));
    QVERIFY2(config.ok(), test::lineOf(config).c_str());
    QVERIFY(*config == everyKnob());
}

void TestFormats::readsTheProfile() {
    const auto profile = plan::profileFromJson(json("profile-1.json"));
    QVERIFY2(profile.ok(), test::lineOf(profile).c_str());
    QCOMPARE(profile->name, std::string("v851s-512m-nand"));
    QCOMPARE(profile->ramTotal, base::mebibytes(512));
    QVERIFY(profile->readBytesPerSecond > 1e6 && profile->opsPerSecond[1][0] > 1e6);
}

void TestFormats::readsTheLegend() {
    const auto l = trace::legendFromJson(json("legend-1.json"));
    QVERIFY2(l.ok(), test::lineOf(l).c_str());
    QVERIFY(toJson(*l) == toJson(legend()));
}

void TestFormats::readsTheCard() {
    const auto card = model::cardFromJson(json("card-1.json"));
    QVERIFY2(card.ok(), test::lineOf(card).c_str());
    QCOMPARE(card->tensors.size(), std::size_t{6});
    QCOMPARE(card->tensors[1].name, std::string("encoder.conv1.weight"));
    QCOMPARE(card->tensors[1].dtype, model::DType::F16);
    QCOMPARE(card->hparam("n_vocab"), std::int64_t{51864});
    QVERIFY(card->section("vocabulary"));
}

/// Append-only numbers: a change here would give old recordings another meaning.
void TestFormats::numbersInTracesKeepTheirMeaning() {
    QCOMPARE(static_cast<int>(EventKind::RunBegin), 1);
    QCOMPARE(static_cast<int>(EventKind::Compute), 4);
    QCOMPARE(static_cast<int>(EventKind::Free), 10);
    QCOMPARE(static_cast<int>(EventKind::Note), 15);
    QCOMPARE(static_cast<int>(trace::CounterKind::IoBytes), 4);
    QCOMPARE(static_cast<int>(trace::CounterKind::SwapUsed), 7);
    QCOMPARE(static_cast<int>(trace::Lane::Sampler), 2);
    QCOMPARE(static_cast<int>(model::Region::Scratch), 6);
    QCOMPARE(static_cast<int>(model::PassKind::Decode), 3);
    QCOMPARE(static_cast<int>(model::OpKind::RowGather), 5);
    QCOMPARE(static_cast<int>(plan::Reason::PhaseEnded), 9);
    QCOMPARE(trace::kRowRead, 0xFFFFFFFEu);
}

QTEST_GUILESS_MAIN(TestFormats)
#include "tst_formats.moc"
