// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <random>
#include <vector>

#include <QTest>

#include "sim_engine/analyze/memory_series.h"
#include "tests/unit/trace_maker.h"

using namespace shardscope;
using namespace shardscope::analyze;
using base::Bytes;
using base::Nanos;
using model::Region;
using tests::TraceMaker;

namespace {

MemorySeries seriesOf(TraceMaker& maker) {
    MemorySeries series;
    for (const trace::Event& e : maker.trace().events)
        series.add(e, maker.legend());
    return series;
}

std::int64_t at(const RegionBytes& bytes, Region region) {
    return bytes[static_cast<std::size_t>(region)];
}

} // namespace

class TestMemorySeries : public QObject {
    Q_OBJECT

private slots:
    void pyramidAgreesWithALoop();
    void pyramidForgetsAndReplaces();
    void loadsCountByWhetherTheirShardIsPinned();
    void whatIsGivenBackIsGone();
    void eventsOutOfStepArePutWhereTheyBelong();
    void columnsCarryWhatWasHeldBefore();
    void columnsAgreeWithEveryPoint();
    void columnsEndWithTheRun();
    void firstMomentAboveALimitIsFound();
    void countersHoldBetweenSamples();
};

void TestMemorySeries::pyramidAgreesWithALoop() {
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> value(-1000, 1000);
    MinMaxPyramid<2> pyramid;
    std::vector<std::array<std::int64_t, 2>> rows;
    for (int i = 0; i < 3000; ++i) {
        rows.push_back({value(random), value(random)});
        pyramid.append(rows.back());
    }
    std::uniform_int_distribution<std::size_t> index(0, rows.size());
    for (int i = 0; i < 500; ++i) {
        std::size_t first = index(random), last = index(random);
        if (first > last)
            std::swap(first, last);
        if (first == last)
            continue;
        const auto bounds = pyramid.bounds(first, last);
        for (std::size_t c = 0; c < 2; ++c) {
            std::int64_t low = rows[first][c], high = low;
            for (std::size_t k = first; k < last; ++k) {
                low = std::min(low, rows[k][c]);
                high = std::max(high, rows[k][c]);
            }
            QCOMPARE_EQ(bounds.low[c], low);
            QCOMPARE_EQ(bounds.high[c], high);
        }
    }
}

void TestMemorySeries::pyramidForgetsAndReplaces() {
    MinMaxPyramid<1> pyramid;
    for (std::int64_t i = 0; i < 200; ++i)
        pyramid.append({i});
    pyramid.truncate(100);
    QCOMPARE_EQ(pyramid.bounds(0, 100).high[0], 99);
    for (std::int64_t i = 0; i < 100; ++i)
        pyramid.append({-i});
    QCOMPARE_EQ(pyramid.bounds(0, 200).high[0], 99);
    QCOMPARE_EQ(pyramid.bounds(0, 200).low[0], -99);
    pyramid.replace(5, {5000});
    QCOMPARE_EQ(pyramid.bounds(0, 200).high[0], 5000);
    pyramid.replace(5, {5});
    QCOMPARE_EQ(pyramid.bounds(0, 200).high[0], 99);
}

void TestMemorySeries::loadsCountByWhetherTheirShardIsPinned() {
    TraceMaker maker;
    maker.load(10, 0, 0, 100).load(20, 1, 100, 200).alloc(30, 0, 300, 50).alloc(30, 1, 350, 70);
    const MemorySeries series = seriesOf(maker);
    const RegionBytes held = series.regionsAt(Nanos(30));
    QCOMPARE_EQ(at(held, Region::PinnedWeights), 100);
    QCOMPARE_EQ(at(held, Region::StreamSlots), 200);
    QCOMPARE_EQ(at(held, Region::Activations), 50);
    QCOMPARE_EQ(at(held, Region::CrossKv), 70);
    QCOMPARE_EQ(series.totalAt(Nanos(25)), Bytes(300));
    QCOMPARE_EQ(series.totalAt(Nanos(9)), Bytes(0));
    QVERIFY(series.used()[static_cast<std::size_t>(Region::CrossKv)]);
    QVERIFY(!series.used()[static_cast<std::size_t>(Region::Audio)]);
}

void TestMemorySeries::whatIsGivenBackIsGone() {
    TraceMaker maker;
    maker.load(10, 1, 0, 200).evict(20, 1, 0, 200).alloc(30, 0, 0, 50).free(40, 0, 0, 50);
    const MemorySeries series = seriesOf(maker);
    QCOMPARE_EQ(series.totalAt(Nanos(20)), Bytes(0));
    QCOMPARE_EQ(series.totalAt(Nanos(40)), Bytes(0));
    QCOMPARE_EQ(series.peak(), Bytes(200));
    QCOMPARE_EQ(series.peakWithin(Nanos(21), Nanos(50)), Bytes(50));
}

void TestMemorySeries::eventsOutOfStepArePutWhereTheyBelong() {
    TraceMaker inOrder, late;
    inOrder.load(10, 0, 0, 100).alloc(20, 0, 100, 50).load(30, 1, 200, 200).free(40, 0, 100, 50);
    late.load(10, 0, 0, 100).load(30, 1, 200, 200).free(40, 0, 100, 50).alloc(20, 0, 100, 50);
    const MemorySeries a = seriesOf(inOrder), b = seriesOf(late);
    for (std::int64_t t = 0; t < 50; ++t)
        QCOMPARE_EQ(a.regionsAt(Nanos(t)), b.regionsAt(Nanos(t)));
    QCOMPARE_EQ(a.peak(), b.peak());
}

void TestMemorySeries::columnsCarryWhatWasHeldBefore() {
    TraceMaker maker;
    maker.load(10, 0, 0, 100).alloc(60, 0, 100, 50);
    const auto columns = seriesOf(maker).columns(Nanos(20), Nanos(100), 4, Nanos(1000));
    QCOMPARE_EQ(columns.size(), std::size_t(4));
    QCOMPARE_EQ(columns[0].total(), 100);
    QCOMPARE_EQ(columns[1].total(), 100);
    QCOMPARE_EQ(columns[2].low.back(), 100); // changes within it
    QCOMPARE_EQ(columns[2].high.back(), 150);
    QCOMPARE_EQ(columns[3].low.back(), 150);
}

void TestMemorySeries::columnsAgreeWithEveryPoint() {
    std::mt19937 random(3);
    TraceMaker maker;
    std::uint64_t t = 0;
    for (int i = 0; i < 5000; ++i) {
        t += random() % 40;
        maker.load(t, 1, 0, 1 + random() % 300);
        maker.evict(t + random() % 20, 1, 0, maker.trace().events.back().b);
    }
    const MemorySeries series = seriesOf(maker);
    const Nanos begin(5000), end(70000);
    const std::size_t count = 130; // 500 ns a column
    const auto columns = series.columns(begin, end, count, Nanos(1 << 30));
    for (std::size_t c = 0; c < count; ++c) {
        std::int64_t low =
            series.totalAt(begin + Nanos(static_cast<std::int64_t>(c) * 500 - 1)).value;
        std::int64_t high = low;
        for (std::int64_t k = 0; k < 500; ++k) {
            const Nanos at = begin + Nanos(static_cast<std::int64_t>(c) * 500 + k);
            const std::int64_t total = series.totalAt(at).value;
            low = std::min(low, total);
            high = std::max(high, total);
        }
        // Within one nanosecond the stair may have stood higher or lower still.
        QCOMPARE_LE(columns[c].low.back(), low);
        QCOMPARE_GE(columns[c].high.back(), high);
        QCOMPARE_LE(columns[c].high.back(), series.peak().value);
    }
}

void TestMemorySeries::columnsEndWithTheRun() {
    TraceMaker maker;
    maker.load(0, 0, 0, 100);
    const auto columns = seriesOf(maker).columns(Nanos(0), Nanos(100), 10, Nanos(50));
    QVERIFY(!columns[4].empty);
    QVERIFY(columns[5].empty);
}

void TestMemorySeries::firstMomentAboveALimitIsFound() {
    TraceMaker maker;
    for (std::uint64_t t = 1; t < 200; t += 2)
        maker.alloc(t, 0, 0, 50).free(t + 1, 0, 0, 50);
    maker.load(500, 1, 0, 200).evict(600, 1, 0, 200).load(700, 2, 0, 300);
    const MemorySeries series = seriesOf(maker);
    QCOMPARE_EQ(series.firstAbove(Bytes(49))->time, Nanos(1));
    QCOMPARE_EQ(series.firstAbove(Bytes(50))->time, Nanos(500));
    QCOMPARE_EQ(series.firstAbove(Bytes(200))->bytes, Bytes(300));
    QVERIFY(!series.firstAbove(Bytes(300)));
}

void TestMemorySeries::countersHoldBetweenSamples() {
    CounterSeries rss;
    rss.add(100, 7);
    rss.add(200, 9);
    rss.add(300, 3);
    QVERIFY(!rss.valueAt(Nanos(99)));
    QCOMPARE_EQ(*rss.valueAt(Nanos(250)), 9);
    QCOMPARE_EQ(rss.peak(), 9);
    const auto columns = rss.columns(Nanos(0), Nanos(400), 4, Nanos(350));
    QVERIFY(columns[0].empty);
    QCOMPARE_EQ(columns[2].low, 7); // up to the sample the one before holds
    QCOMPARE_EQ(columns[2].high, 9);
    QVERIFY(!columns[3].empty);
}

QTEST_APPLESS_MAIN(TestMemorySeries)
#include "tst_memory_series.moc"
