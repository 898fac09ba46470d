// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <nlohmann/json.hpp>

#include "plan_fixtures.h"
#include "sim_engine/analyze/summary.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using analyze::Summary;
using trace::Event;
using trace::EventKind;
using trace::Lane;

namespace {

constexpr std::uint64_t kMs = 1'000'000;

Event at(
    std::uint64_t ms, EventKind kind, std::uint32_t id = 0, std::uint64_t a = 0,
    std::uint64_t b = 0) {
    return {ms * kMs, a, b, id, kind, Lane::Compute, 0};
}

trace::Legend legend() {
    trace::Legend l;
    l.ops = {
        {"mel", model::OpKind::Mel, -1, base::ShardId::kNone},
        {"fc1", model::OpKind::MatMul, 0, 0}};
    l.shards = {{"layer 0", base::Bytes(1000), base::Bytes(4096), false}};
    l.buffers = {{"x", model::Region::Activations, base::Bytes(512)}};
    return l;
}

/// One window: encode 0-30 ms (mel 5), cross 30-40, prefill 40-50, tokens at 50, 60, 80.
std::vector<Event> window(std::uint64_t begin, std::uint64_t number) {
    const auto token = [&](std::uint64_t ms, std::uint32_t id, std::uint64_t n) {
        return at(begin + ms, EventKind::Token, id, n, number);
    };
    return {
        at(begin, EventKind::Window, static_cast<std::uint32_t>(number)),
        at(begin, EventKind::Phase, 0),
        at(begin, EventKind::Alloc, 0, 8192, 4096),
        at(begin, EventKind::Load, 0, 4096, 4096),
        at(begin, EventKind::Compute, 0, 5 * kMs),
        {(begin + 2) * kMs, 8 * kMs, 1000, 0, EventKind::Read, Lane::Io, 0},
        at(begin + 5, EventKind::Stall, 0, 5 * kMs),
        at(begin + 10, EventKind::Compute, 1, 20 * kMs),
        at(begin + 30, EventKind::Phase, 1),
        at(begin + 40, EventKind::Phase, 2),
        {(begin + 40) * kMs, 1 * kMs, 24, trace::kRowRead, EventKind::Read, Lane::Compute, 0},
        token(50, 11, 0),
        at(begin + 50, EventKind::Phase, 3),
        token(60, 12, 1),
        at(begin + 61, EventKind::Counter, 0, 777),
        token(80, 13, 2),
    };
}

Summary summaryOf(std::vector<Event> events) {
    trace::Trace trace;
    trace.legend = legend();
    trace.events = std::move(events);
    return analyze::summarise(trace);
}

} // namespace

class TestSummary : public QObject {
    Q_OBJECT

private slots:
    void addsUpOneWindow();
    void addsUpSeveralWindows();
    void stepsOfABeamSearchTakeTheTime();
    void ofNothingIsZero();
    void aRunThatStopsMidwayHasItsFigures();
    void printsTheDocumentedKeys();
    void whatDoesNotFitIsPrinted();
};

void TestSummary::addsUpOneWindow() {
    std::vector<Event> events = window(0, 0);
    events.push_back(at(80, EventKind::RunEnd));
    const Summary s = summaryOf(events);
    QCOMPARE(s.melMs, 5.0);
    QCOMPARE(s.encodeMs, 25.0);
    QCOMPARE(s.crossKvMs, 10.0);
    QCOMPARE(s.firstTokenMs, 50.0);
    QCOMPARE(s.decodeMsPerToken, 15.0); // 50 -> 60 -> 80
    QCOMPARE(s.totalMs, 80.0);
    QCOMPARE(s.arenaPeak, std::int64_t{12288});
    QCOMPARE(s.rssPeak, std::int64_t{777});
    QCOMPARE(s.bytesRead, std::int64_t{1024});
    QCOMPARE(s.reads, std::int64_t{2});
    QCOMPARE(s.readMs, 9.0);
    QCOMPARE(s.stallMs, 6.0); // waited for the shard, and for the rows
    QVERIFY(std::abs(s.hiddenFraction - 3.0 / 9) < 1e-12);
    QCOMPARE(s.tokens, (std::vector<std::uint32_t>{11, 12, 13}));
}

void TestSummary::addsUpSeveralWindows() {
    std::vector<Event> events = window(0, 0);
    for (const Event& e : window(100, 1))
        events.push_back(e);
    events.push_back(at(180, EventKind::RunEnd));
    const Summary s = summaryOf(events);
    QCOMPARE(s.melMs, 10.0);
    QCOMPARE(s.encodeMs, 50.0);
    QCOMPARE(s.firstTokenMs, 50.0);
    QCOMPARE(s.decodeMsPerToken, 15.0); // the way from window to window is no step
    QCOMPARE(s.totalMs, 180.0);
    QCOMPARE(s.tokens.size(), std::size_t{6});
}

void TestSummary::stepsOfABeamSearchTakeTheTime() {
    std::vector<Event> events = window(0, 0);
    for (Event& e : events)
        if (e.kind == EventKind::Token)
            e.kind = EventKind::Step, e.id = 5;
    for (const std::uint32_t number : {0u, 1u}) // the text is one token shorter
        events.push_back(at(80, EventKind::Token, 70 + number, number));
    events.push_back(at(80, EventKind::RunEnd));
    const Summary s = summaryOf(events);
    QCOMPARE(s.firstTokenMs, 50.0);
    QCOMPARE(s.decodeMsPerToken, 15.0);
    QCOMPARE(s.tokens, (std::vector<std::uint32_t>{70, 71}));
}

void TestSummary::ofNothingIsZero() {
    const Summary s = summaryOf({});
    QCOMPARE(s.totalMs, 0.0);
    QCOMPARE(s.decodeMsPerToken, 0.0);
    QCOMPARE(s.hiddenFraction, 1.0);
    QVERIFY(s.tokens.empty());
}

void TestSummary::aRunThatStopsMidwayHasItsFigures() {
    std::vector<Event> events = window(0, 0);
    events.resize(9); // in cross, without an end
    const Summary s = summaryOf(events);
    QCOMPARE(s.encodeMs, 25.0);
    QCOMPARE(s.crossKvMs, 0.0);
    QCOMPARE(s.totalMs, 30.0);
    QCOMPARE(s.firstTokenMs, 0.0);
}

void TestSummary::printsTheDocumentedKeys() {
    plan::RunConfig config;
    config.budget = base::mebibytes(40);
    const plan::Plan p = test::planned(test::card("tiny.en"), config);
    const Summary s = summaryOf(window(0, 0));
    const Json d = analyze::resultJson(s, p, "pread", "hello");
    QCOMPARE(d["text"].get<std::string>(), std::string("hello"));
    QCOMPARE(d["n_tokens"].get<int>(), 3);
    QCOMPARE(d["tokens"].size(), std::size_t{3});
    QVERIFY(d["feasible"].get<bool>());
    for (const char* key :
         {"mel_ms", "encode_ms", "cross_kv_ms", "first_token_ms", "decode_ms_per_token",
          "total_ms"})
        QVERIFY2(d["timing"].contains(key) && d["timing"][key].is_number(), key);
    for (const char* key :
         {"planned_peak_bytes", "arena_peak_bytes", "rss_peak_bytes", "budget_bytes"})
        QVERIFY2(d["memory"].contains(key), key);
    QCOMPARE(d["memory"]["planned_peak_bytes"].get<std::int64_t>(), p.peak.value);
    QCOMPARE(d["memory"]["budget_bytes"].get<std::int64_t>(), std::int64_t{40} << 20);
    for (const char* key : {"bytes_read", "reads", "stall_ms", "hidden_fraction", "loader"})
        QVERIFY2(d["io"].contains(key), key);
    for (const char* key :
         {"shards", "pinned_bytes", "streamed_bytes_per_token", "cross_kv_bytes", "self_kv_bytes",
          "hash"})
        QVERIFY2(d["plan"].contains(key), key);
    QCOMPARE(d["plan"]["hash"].get<std::string>(), p.hashText());
    QVERIFY(d["config"].contains("budget_bytes"));
}

void TestSummary::whatDoesNotFitIsPrinted() {
    plan::RunConfig config;
    config.budget = base::mebibytes(1);
    const auto planned = plan::plan(test::card("tiny.en"), config, test::board());
    const auto& why = std::get<plan::Infeasible>(*planned);
    const Json d = analyze::infeasibleJson(why, config);
    QVERIFY(!d["feasible"].get<bool>());
    QCOMPARE(d["infeasible"]["allowed_bytes"].get<std::int64_t>(), std::int64_t{1} << 20);
    QVERIFY(d["infeasible"]["needed_bytes"].get<std::int64_t>() > (1 << 20));
    QVERIFY(!d["infeasible"]["nearest"].get<std::string>().empty());
}

QTEST_GUILESS_MAIN(TestSummary)
#include "tst_summary.moc"
