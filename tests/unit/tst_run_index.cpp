// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "sim_engine/analyze/csv.h"
#include "sim_engine/analyze/run_index.h"
#include "tests/unit/trace_maker.h"

using namespace shardscope;
using namespace shardscope::analyze;
using base::Bytes;
using base::Nanos;
using model::PassKind;
using tests::TraceMaker;

namespace {

/// Two tokens: prefill of 100 ns, a decode step of 60 ns.
TraceMaker twoTokens() {
    TraceMaker maker;
    maker.phase(0, PassKind::Encode).compute(0, 0, 50).phase(100, PassKind::Prefill);
    maker.stall(100, 1, 30).compute(130, 0, 60).token(200, 7, 0);
    maker.phase(200, PassKind::Decode);
    maker.read(205, trace::kRowRead, 5, 64, trace::Lane::Compute).compute(203, 1, 10);
    maker.stall(213, 2, 20).compute(233, 0, 20).token(260, 8, 1);
    return maker;
}

} // namespace

class TestRunIndex : public QObject {
    Q_OBJECT

private slots:
    void tokensAreSplitIntoWhatTheyTook();
    void rowsWithinAnOpAreNotCountedTwice();
    void percentilesAreThoseOfDecodeSteps();
    void tokenBarsAreMergedUnderAFewPixels();
    void windowsBeginAnew();
    void growingTracesGiveWhatWholeOnesGive();
    void hiddenStallsAreNoSpans();
    void budgetsAreViolatedByArenaOrProcess();
    void theReasonOfALoadIsTold();
    void impossibleEventsAreLeftOut();
    void viewsBecomeTables();
};

void TestRunIndex::tokensAreSplitIntoWhatTheyTook() {
    TraceMaker maker = twoTokens();
    RunIndex index;
    index.update(maker.trace());
    const auto& bars = index.tokens().bars();
    QCOMPARE_EQ(bars.size(), std::size_t(2));
    QVERIFY(bars[0].first);
    QCOMPARE_EQ(bars[0].begin, 100); // the encoder is not part of it
    QCOMPARE_EQ(bars[0].compute, 60);
    QCOMPARE_EQ(bars[0].stall, 30);
    QCOMPARE_EQ(bars[0].other, 10);
    QVERIFY(!bars[1].first);
    QCOMPARE_EQ(bars[1].total(), 60);
    QCOMPARE_EQ(*index.tokens().barAt(Nanos(230)), 1u);
    QVERIFY(!index.tokens().barAt(Nanos(50)));
}

void TestRunIndex::rowsWithinAnOpAreNotCountedTwice() {
    TraceMaker maker = twoTokens();
    RunIndex index;
    index.update(maker.trace());
    const TokenBar& bar = index.tokens().bars()[1];
    QCOMPARE_EQ(bar.read, 5);
    QCOMPARE_EQ(bar.compute, 25); // 10 - 5 + 20
    QCOMPARE_EQ(bar.compute + bar.read + bar.stall + bar.other, bar.total());
}

void TestRunIndex::percentilesAreThoseOfDecodeSteps() {
    TraceMaker maker;
    maker.phase(0, PassKind::Prefill).token(1000, 1, 0).phase(1000, PassKind::Decode);
    std::uint64_t t = 1000;
    for (std::uint64_t i = 1; i <= 100; ++i)
        maker.token(t += i, 1, i);
    RunIndex index;
    index.update(maker.trace());
    const Percentiles all = index.tokens().percentiles(Nanos(0), Nanos(1 << 30));
    QCOMPARE_EQ(all, (Percentiles{100, 50, 90, 99, 100}));
    QCOMPARE_EQ(index.tokens().percentiles(Nanos(1001), Nanos(1006)).count, std::size_t(3));
    QCOMPARE_EQ(index.tokens().percentiles(Nanos(0), Nanos(1000)).count, std::size_t(0));
}

void TestRunIndex::tokenBarsAreMergedUnderAFewPixels() {
    TraceMaker maker;
    maker.phase(0, PassKind::Decode);
    for (std::uint64_t i = 1; i <= 100; ++i)
        maker.token(i * 10 + (i == 50 ? 3 : 0), 1, i);
    RunIndex index;
    index.update(maker.trace());
    const auto marks = index.tokens().marks(Nanos(0), Nanos(2000), Nanos(45));
    QCOMPARE_LE(marks.size(), std::size_t(26));
    std::uint32_t count = 0;
    bool slowest = false;
    for (const TokenMark& mark : marks) {
        count += mark.count;
        slowest = slowest || mark.slowest == 49;
    }
    QCOMPARE_EQ(count, 100u);
    QVERIFY(slowest);
}

void TestRunIndex::windowsBeginAnew() {
    TraceMaker maker = twoTokens();
    maker.phase(300, PassKind::Encode).compute(300, 0, 200).phase(600, PassKind::Prefill);
    maker.compute(600, 0, 40).token(650, 9, 0, 1);
    RunIndex index;
    index.update(maker.trace());
    const TokenBar& bar = index.tokens().bars().back();
    QVERIFY(bar.first);
    QCOMPARE_EQ(bar.window, 1u);
    QCOMPARE_EQ(bar.begin, 600);
    QCOMPARE_EQ(bar.compute, 40);
}

void TestRunIndex::growingTracesGiveWhatWholeOnesGive() {
    TraceMaker maker = twoTokens();
    maker.load(270, 1, 0, 200).read(270, 1, 9, 200).rss(280, 500).evict(290, 1, 0, 200);
    RunIndex whole, growing;
    whole.update(maker.trace());
    trace::Trace part;
    part.legend = maker.legend();
    for (const trace::Event& e : maker.trace().events) {
        part.events.push_back(e);
        growing.update(part);
    }
    QCOMPARE_EQ(growing.eventsTaken(), whole.eventsTaken());
    QCOMPARE_EQ(growing.end(), whole.end());
    QCOMPARE_EQ(growing.memory().peak(), whole.memory().peak());
    QCOMPARE_EQ(growing.tokens().bars().size(), whole.tokens().bars().size());
    QCOMPARE_EQ(growing.lane(SpanLaneKind::Read).spans().size(), std::size_t(2));
    QCOMPARE_EQ(growing.arena().lives().size(), whole.arena().lives().size());
    QCOMPARE_EQ(growing.arenaBytes(), Bytes(1000));
}

void TestRunIndex::hiddenStallsAreNoSpans() {
    TraceMaker maker;
    maker.stall(10, 1, 0).stall(20, 1, 5);
    RunIndex index;
    index.update(maker.trace());
    QCOMPARE_EQ(index.lane(SpanLaneKind::Stall).spans().size(), std::size_t(1));
}

void TestRunIndex::budgetsAreViolatedByArenaOrProcess() {
    const Bytes budget = base::mebibytes(10);
    const auto mib = [](std::uint64_t n) { return n << 20; };
    TraceMaker maker;
    maker.load(10, 0, 0, mib(9)).rss(20, mib(15));
    RunIndex index;
    index.update(maker.trace());
    QVERIFY(!index.firstViolation(budget)); // the process may be a little larger
    maker.rss(30, mib(19));
    index.update(maker.trace());
    QVERIFY(index.firstViolation(budget)->byRss);
    QCOMPARE_EQ(index.firstViolation(budget)->time, Nanos(30));
    QVERIFY(!index.firstViolation(Bytes(0)));
    QVERIFY(!index.firstViolation(base::mebibytes(8))->byRss);
}

void TestRunIndex::theReasonOfALoadIsTold() {
    TraceMaker maker;
    maker.load(1000, 1, 0, 200, plan::Reason::Missed).evict(2000, 1, 0, 200);
    RunIndex index;
    index.update(maker.trace());
    const QString why = QString::fromStdString(index.whyLoaded(base::ShardId(1u), Nanos(1500)));
    QVERIFY(why.contains(QLatin1String("missed")));
    QVERIFY(why.contains(QLatin1String("evicted")));
    QVERIFY(index.whyLoaded(base::ShardId(2u), Nanos(1500)).empty());
    QVERIFY(index.whyLoaded(base::ShardId(), Nanos(1500)).empty());
}

void TestRunIndex::impossibleEventsAreLeftOut() {
    constexpr std::uint64_t kHuge = ~std::uint64_t(0);
    TraceMaker maker;
    maker.load(kHuge, 1, 0, 200).compute(5, 0, kHuge).alloc(5, 0, kHuge, 50).alloc(5, 0, 0, kHuge);
    maker.read(5, 1, 9, kHuge).rss(5, kHuge).compute(5, 4000000000u, 7).load(6, 4000000000u, 0, 9);
    maker.add(trace::EventKind::Alloc, 5, 0, 0, 50, 4711);
    RunIndex index;
    index.update(maker.trace());
    QCOMPARE_EQ(index.eventsSkipped(), std::size_t(6));
    QCOMPARE_EQ(index.memory().peak(), Bytes(9)); // of a shard nobody knows
    QCOMPARE_EQ(index.end(), Nanos(12));
}

void TestRunIndex::viewsBecomeTables() {
    TraceMaker maker = twoTokens();
    maker.trace().legend.shards[1].name = "layer \"1\", all";
    maker.load(210, 1, 64, 200, plan::Reason::Missed).read(210, 1, 9, 200).evict(290, 1, 64, 200);
    RunIndex index;
    index.update(maker.trace());
    const Nanos begin(205), end(1000);
    QCOMPARE_EQ(
        tokensCsv(index, begin, end),
        std::string("window,number,token,begin_ns,total_ns,compute_ns,read_ns,stall_ns,other_ns\r\n"
                    "0,1,8,200,60,25,5,20,10\r\n"));
    QCOMPARE_EQ(
        memoryCsv(index, begin, end),
        std::string("t_ns,pinned_weights,streaming_slots,self_KV,cross_KV,activations,audio,"
                    "scratch,total\r\n210,0,200,0,0,0,0,0,200\r\n290,0,0,0,0,0,0,0,0\r\n"));
    const auto arena = QString::fromStdString(arenaCsv(index, maker.legend(), begin, end));
    QVERIFY(arena.contains(
        QLatin1String("\"layer \"\"1\"\", all\",weights,streaming slots,64,200,210,290,")));
    const auto lanes = QString::fromStdString(lanesCsv(index, maker.legend(), begin, end));
    QVERIFY(lanes.contains(QLatin1String("I/O,embedding rows,205,5,64\r\n")));
    QVERIFY(!lanes.contains(QLatin1String("stall,\"layer"))); // before begin
}

QTEST_APPLESS_MAIN(TestRunIndex)
#include "tst_run_index.moc"
