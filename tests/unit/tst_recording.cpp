// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "sim_engine/trace/recording.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using trace::Event;
using trace::EventKind;
using trace::Frame;
using trace::FrameKind;
using trace::Legend;
using trace::Recording;
using trace::RecordingBuilder;

namespace {

Legend smallLegend() {
    Legend legend;
    legend.planHash = "0123456789abcdef";
    legend.peak = base::mebibytes(3);
    legend.ops = {
        {"mel", model::OpKind::Mel, -1, base::ShardId::kNone},
        {"decoder.0.self.q", model::OpKind::MatVec, 0, 0}};
    legend.shards = {{"decoder layer 0", base::Bytes(1000), base::Bytes(4096), true}};
    legend.buffers = {{"mel", model::Region::Audio, base::Bytes(512)}};
    return legend;
}

std::string runText() {
    return Json{{"run", {{"legend", toJson(smallLegend())}}}}.dump();
}

Event eventOf(EventKind kind, std::uint32_t id = 0, std::uint16_t aux = 0) {
    Event e;
    e.kind = kind;
    e.id = id;
    e.aux = aux;
    return e;
}

std::string_view payload(const std::vector<Event>& events) {
    return {reinterpret_cast<const char*>(events.data()), events.size() * sizeof(Event)};
}

base::Status addEvents(RecordingBuilder& builder, std::uint64_t first, std::vector<Event> events) {
    return builder.add({FrameKind::Events, first, payload(events)});
}

base::Status addControl(RecordingBuilder& builder, std::string_view text) {
    return builder.add({FrameKind::Control, 0, text});
}

} // namespace

class TestRecording : public QObject {
    Q_OBJECT

private slots:
    void tellsARun();
    void takesNoEventTwiceAndCountsTheMissing();
    void leavesOutWhatTheLegendDoesNotKnow_data();
    void leavesOutWhatTheLegendDoesNotKnow();
    void refusesControlFramesThatMakeNoSense_data();
    void refusesControlFramesThatMakeNoSense();
    void refusesASecondRun();
    void deepJsonIsCut();
    void readsWhatACutFileHolds();
    void aFileThatIsNoRecordingIsBadInput_data();
    void aFileThatIsNoRecordingIsBadInput();
    void legendsComeBackAsTheyWere();

private:
    std::string write(const std::string& bytes) {
        const QString path = m_dir.filePath("r.sst");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(bytes.data(), static_cast<qint64>(bytes.size())) < 0)
            qFatal("cannot write the test file");
        return path.toStdString();
    }
    QTemporaryDir m_dir;
};

void TestRecording::tellsARun() {
    RecordingBuilder builder;
    QVERIFY(addControl(builder, runText()).ok());
    QVERIFY(
        addEvents(builder, 0, {eventOf(EventKind::RunBegin), eventOf(EventKind::Compute, 1)}).ok());
    QVERIFY(addControl(builder, R"({"note":"pread: io_uring is not there"})").ok());
    QVERIFY(addControl(builder, R"({"another":"kind of message"})").ok());
    QVERIFY(!builder.recording().trace.complete);
    QVERIFY(addEvents(builder, 2, {eventOf(EventKind::RunEnd)}).ok());
    QVERIFY(addControl(builder, R"({"result":{"text":"hello"}})").ok());
    const Recording r = builder.take();
    QCOMPARE(r.trace.events.size(), std::size_t{3});
    QVERIFY(r.trace.complete);
    QCOMPARE(r.trace.dropped, std::uint64_t{0});
    QCOMPARE(r.unknownEvents, std::uint64_t{0});
    QCOMPARE(r.trace.legend.notes, std::vector<std::string>{"pread: io_uring is not there"});
    QCOMPARE(r.result["text"].get<std::string>(), std::string("hello"));
    QCOMPARE(r.trace.legend.ops[1].name, std::string("decoder.0.self.q"));
}

void TestRecording::takesNoEventTwiceAndCountsTheMissing() {
    RecordingBuilder builder;
    QVERIFY(addControl(builder, runText()).ok());
    const Event e = eventOf(EventKind::Counter);
    QVERIFY(addEvents(builder, 0, {e, e, e}).ok());
    QVERIFY(addEvents(builder, 1, {e, e}).ok()); // all seen
    QVERIFY(addEvents(builder, 2, {e, e}).ok()); // one of them is new
    QCOMPARE(builder.recording().trace.events.size(), std::size_t{4});
    QVERIFY(addEvents(builder, 10, {e}).ok());
    QCOMPARE(builder.recording().trace.dropped, std::uint64_t{6});
    Event lost = eventOf(EventKind::Dropped);
    lost.a = 5;
    QVERIFY(addEvents(builder, 11, {lost}).ok());
    QCOMPARE(builder.recording().trace.dropped, std::uint64_t{11});
    QVERIFY(addEvents(builder, ~std::uint64_t{0}, {e, e}).ok()); // the counter must not wrap
    QVERIFY(addEvents(builder, 12, {e}).ok());
}

void TestRecording::leavesOutWhatTheLegendDoesNotKnow_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<quint32>("id");
    QTest::addColumn<int>("aux");
    QTest::addColumn<bool>("known");
    const auto row = [](const char* name, EventKind kind, quint32 id, int aux, bool known) {
        QTest::newRow(name) << static_cast<int>(kind) << id << aux << known;
    };
    row("an op", EventKind::Compute, 1, 3, true);
    row("an op beyond the legend", EventKind::Compute, 2, 0, false);
    row("a pass that is none", EventKind::Compute, 1, 4, false);
    row("a shard", EventKind::Read, 0, 0, true);
    row("rows", EventKind::Read, trace::kRowRead, 0, true);
    row("a shard beyond the legend", EventKind::Read, 1, 0, false);
    row("a load beyond the legend", EventKind::Load, 1, 0, false);
    row("an eviction beyond the legend", EventKind::Evict, 1, 0, false);
    row("a stall for rows", EventKind::Stall, trace::kRowRead, 0, false);
    row("a buffer", EventKind::Alloc, 0, 6, true);
    row("a buffer beyond the legend", EventKind::Free, 1, 0, false);
    row("a region that is none", EventKind::Alloc, 0, 7, false);
    row("a counter that is none", EventKind::Counter, trace::kCounterCount, 0, false);
    row("a phase that is none", EventKind::Phase, 4, 0, false);
    row("no kind", static_cast<EventKind>(0), 0, 0, false);
    row("a kind of a newer version", static_cast<EventKind>(trace::kLastEventKind + 1), 0, 0,
        false);
}

void TestRecording::leavesOutWhatTheLegendDoesNotKnow() {
    QFETCH(int, kind);
    QFETCH(quint32, id);
    QFETCH(int, aux);
    QFETCH(bool, known);
    RecordingBuilder builder;
    QVERIFY(addControl(builder, runText()).ok());
    Event e = eventOf(static_cast<EventKind>(kind), id, static_cast<std::uint16_t>(aux));
    QVERIFY(addEvents(builder, 0, {e}).ok());
    QCOMPARE(builder.recording().trace.events.size(), std::size_t{known});
    QCOMPARE(builder.recording().unknownEvents, std::uint64_t{!known});
    // Times whose sum would overflow, and lanes that are none, are left out whatever the kind.
    e.t_ns = e.a = ~std::uint64_t{0};
    Event lane = eventOf(static_cast<EventKind>(kind), id, static_cast<std::uint16_t>(aux));
    lane.lane = static_cast<trace::Lane>(9);
    QVERIFY(addEvents(builder, 1, {e, lane}).ok());
    QCOMPARE(builder.recording().trace.events.size(), std::size_t{known});
}

void TestRecording::refusesControlFramesThatMakeNoSense_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("no JSON") << QByteArray("{\"run\":");
    QTest::newRow("an array") << QByteArray("[1]");
    QTest::newRow("a run that is no object") << QByteArray(R"({"run":7})");
    QTest::newRow("a run without legend") << QByteArray(R"({"run":{}})");
    QTest::newRow("an empty legend") << QByteArray(R"({"run":{"legend":{}}})");
    const auto with = [](const char* pointer, const Json& value) {
        Json run = Json::parse(runText());
        run["run"]["legend"][Json::json_pointer(pointer)] = value;
        return QByteArray::fromStdString(run.dump());
    };
    QTest::newRow("a shard beyond the table") << with("/ops/1/3", 1);
    QTest::newRow("a shard of 2^40") << with("/ops/1/3", std::int64_t{1} << 40);
    QTest::newRow("an op kind that is none") << with("/ops/0/1", 77);
    QTest::newRow("a region that is none") << with("/buffers/0/1", -1);
    QTest::newRow("a negative size") << with("/shards/0/2", -4096);
    QTest::newRow("a name that is a number") << with("/buffers/0/0", 4);
    QTest::newRow("ops that are a text") << with("/ops", "many");
    QTest::newRow("no notes") << with("/notes", nullptr);
}

void TestRecording::refusesControlFramesThatMakeNoSense() {
    QFETCH(QByteArray, text);
    RecordingBuilder builder;
    const auto status = addControl(builder, text.toStdString());
    QVERIFY(!status.ok());
    QCOMPARE(status.error().code, base::ErrorCode::BadInput);
    QVERIFY(!status.error().what.empty() && !status.error().mend.empty());
}

void TestRecording::refusesASecondRun() {
    RecordingBuilder builder;
    QVERIFY(addControl(builder, runText()).ok());
    QCOMPARE(addControl(builder, runText()).error().code, base::ErrorCode::BadInput);
    RecordingBuilder late;
    QVERIFY(addEvents(late, 0, {eventOf(EventKind::RunBegin)}).ok());
    QVERIFY(!addControl(late, runText()).ok());
}

void TestRecording::deepJsonIsCut() {
    const std::size_t depth = 3'000'000;
    const std::string text =
        R"({"deep":)" + std::string(depth, '[') + std::string(depth, ']') + R"(,"after":1})";
    const Json document = trace::parseControl(text);
    QVERIFY(document.is_object());
    QCOMPARE(document["after"].get<int>(), 1);
    QVERIFY(document.dump().size() < 200);
    QVERIFY(trace::parseControl("{\"cut\":").is_discarded());
}

void TestRecording::readsWhatACutFileHolds() {
    std::string bytes = "noise before ";
    trace::appendControl(bytes, 0, runText());
    const std::vector<Event> two{eventOf(EventKind::RunBegin), eventOf(EventKind::Compute, 1)};
    trace::appendEvents(bytes, 0, two);
    const std::size_t whole = bytes.size();
    trace::appendEvents(bytes, 2, two);
    for (const std::size_t cut : {whole, whole + 1, whole + 30, bytes.size() - 1}) {
        const auto recording = trace::readRecording(write(bytes.substr(0, cut)));
        QVERIFY(recording.ok());
        QCOMPARE(recording->trace.events.size(), std::size_t{2});
        QVERIFY(!recording->trace.complete);
        QCOMPARE(recording->skippedBytes, std::uint64_t{13 + cut - whole});
        QVERIFY(recording->result.is_null());
    }
}

void TestRecording::aFileThatIsNoRecordingIsBadInput_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("hello\n");
    QTest::newRow("zeros") << QByteArray(100000, '\0');
    std::string events;
    trace::appendEvents(events, 0, std::vector<Event>{eventOf(EventKind::RunBegin)});
    QTest::newRow("events alone") << QByteArray::fromStdString(events);
}

void TestRecording::aFileThatIsNoRecordingIsBadInput() {
    QFETCH(QByteArray, bytes);
    const auto recording = trace::readRecording(write(bytes.toStdString()));
    QVERIFY(!recording.ok());
    QCOMPARE(recording.error().code, base::ErrorCode::BadInput);
    QVERIFY(recording.error().line().find("r.sst") != std::string::npos);
    QCOMPARE(
        trace::readRecording(m_dir.filePath("none").toStdString()).error().code,
        base::ErrorCode::BadInput);
}

void TestRecording::legendsComeBackAsTheyWere() {
    Legend legend = smallLegend();
    legend.budget = base::mebibytes(9);
    legend.notes = {"a", "\"b\" \xC3\xA4"};
    const auto back = trace::legendFromJson(toJson(legend));
    QVERIFY(back.ok());
    QVERIFY(toJson(*back) == toJson(legend));
    QCOMPARE(back->ops[0].shard, base::ShardId::kNone);
    QCOMPARE(back->ops[1].layer, 0);
    QVERIFY(back->shards[0].pinned);
}

QTEST_APPLESS_MAIN(TestRecording)
#include "tst_recording.moc"
