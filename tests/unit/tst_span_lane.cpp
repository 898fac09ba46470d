// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <random>

#include <QTest>

#include "sim_engine/analyze/span_lane.h"

using namespace shardscope;
using namespace shardscope::analyze;
using base::Nanos;

namespace {

Span spanOf(std::int64_t begin, std::int64_t duration, std::uint8_t kind = 0) {
    Span span;
    span.begin = begin;
    span.end = begin + duration;
    span.kind = kind;
    return span;
}

SpanLane randomLane(int count, unsigned seed) {
    std::mt19937 random(seed);
    SpanLane lane;
    std::int64_t t = 0;
    for (int i = 0; i < count; ++i) {
        t += static_cast<std::int64_t>(random() % 30);
        const auto duration = static_cast<std::int64_t>(random() % 97 == 0 ? 3000 : random() % 50);
        lane.add(spanOf(t, duration, static_cast<std::uint8_t>(random() % 6)));
        t += duration;
    }
    return lane;
}

} // namespace

class TestSpanLane : public QObject {
    Q_OBJECT

private slots:
    void wideSpansStandAlone();
    void narrowSpansAreMergedWithACount();
    void everySpanIsInExactlyOneMark();
    void aPartIsDrawnAsTheWhole();
    void theKindThatTakesLongestColoursTheMark();
    void spansOutOfStepArePutWhereTheyBelong();
    void busyTimeAgreesWithALoop();
    void theNearestSpanIsFound();
};

void TestSpanLane::wideSpansStandAlone() {
    SpanLane lane;
    lane.add(spanOf(0, 100));
    lane.add(spanOf(100, 100));
    const auto marks = lane.marks(Nanos(0), Nanos(300), Nanos(50));
    QCOMPARE_EQ(marks.size(), std::size_t(2));
    QVERIFY(!marks[0].merged());
    QCOMPARE_EQ(marks[1].first, 1u);
}

void TestSpanLane::narrowSpansAreMergedWithACount() {
    SpanLane lane;
    for (std::int64_t i = 0; i < 100000; ++i)
        lane.add(spanOf(i * 10, 4 + i % 3));
    const auto marks = lane.marks(Nanos(0), Nanos(1000000), Nanos(3000));
    QCOMPARE_LE(marks.size(), std::size_t(1000000 / 4096 + 1));
    std::uint32_t count = 0;
    for (const SpanMark& mark : marks) {
        count += mark.count;
        QCOMPARE_EQ(mark.minDuration, 4);
        QCOMPARE_EQ(mark.maxDuration, 6);
    }
    QCOMPARE_EQ(count, 100000u);
}

void TestSpanLane::everySpanIsInExactlyOneMark() {
    const SpanLane lane = randomLane(7000, 1);
    const Nanos end(lane.spans().back().end + 1);
    for (const std::int64_t shortest : {1, 10, 100, 2000, 100000}) {
        const auto marks = lane.marks(Nanos(0), end, Nanos(shortest));
        std::uint32_t count = 0;
        std::int64_t busy = 0, all = 0;
        for (const SpanMark& mark : marks) {
            count += mark.count;
            busy += mark.busy;
            QVERIFY(mark.count == 1 || mark.maxDuration < shortest);
        }
        for (const Span& span : lane.spans())
            all += span.duration();
        QCOMPARE_EQ(count, 7000u);
        QCOMPARE_EQ(busy, all);
    }
}

void TestSpanLane::aPartIsDrawnAsTheWhole() {
    const SpanLane lane = randomLane(7000, 2);
    const auto whole = lane.marks(Nanos(0), Nanos(1 << 30), Nanos(100));
    const auto part = lane.marks(Nanos(40000), Nanos(90000), Nanos(100));
    QVERIFY(part.size() > 100);
    for (std::size_t i = 1; i + 1 < part.size(); ++i) {
        const auto found = std::find_if(whole.begin(), whole.end(), [&](const SpanMark& mark) {
            return mark.first == part[i].first;
        });
        QVERIFY(found != whole.end());
        QCOMPARE_EQ(found->count, part[i].count);
        QCOMPARE_EQ(found->busy, part[i].busy);
    }
}

void TestSpanLane::theKindThatTakesLongestColoursTheMark() {
    SpanLane lane;
    lane.add(spanOf(0, 2, 1));
    lane.add(spanOf(2, 2, 1));
    lane.add(spanOf(4, 9, 3));
    const auto marks = lane.marks(Nanos(0), Nanos(100), Nanos(64));
    QCOMPARE_EQ(marks.size(), std::size_t(1));
    QCOMPARE_EQ(marks[0].kind, std::uint8_t(3));
    QCOMPARE_EQ(lane.busyOf(1), 4);
}

void TestSpanLane::spansOutOfStepArePutWhereTheyBelong() {
    SpanLane lane;
    for (std::int64_t i = 0; i < 100; ++i)
        lane.add(spanOf(i * 10, 5));
    lane.add(spanOf(555, 3));
    const auto& spans = lane.spans();
    QVERIFY(std::is_sorted(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
        return a.begin < b.begin;
    }));
    QCOMPARE_EQ(lane.marks(Nanos(0), Nanos(2000), Nanos(1)).size(), std::size_t(101));
}

void TestSpanLane::busyTimeAgreesWithALoop() {
    const SpanLane lane = randomLane(3000, 4);
    for (const auto& [begin, end] : {std::pair{0, 100}, {500, 77777}, {1234, 1240}, {0, 1 << 30}}) {
        std::int64_t expected = 0;
        for (const Span& s : lane.spans())
            expected += std::max<std::int64_t>(
                0, std::min<std::int64_t>(s.end, end) - std::max<std::int64_t>(s.begin, begin));
        QCOMPARE_EQ(lane.busyWithin(Nanos(begin), Nanos(end)), Nanos(expected));
    }
}

void TestSpanLane::theNearestSpanIsFound() {
    SpanLane lane;
    lane.add(spanOf(100, 50));
    lane.add(spanOf(200, 50));
    QCOMPARE_EQ(*lane.spanAt(Nanos(120), Nanos(0)), 0u);
    QCOMPARE_EQ(*lane.spanAt(Nanos(190), Nanos(20)), 1u);
    QVERIFY(!lane.spanAt(Nanos(175), Nanos(10)));
}

QTEST_APPLESS_MAIN(TestSpanLane)
#include "tst_span_lane.moc"
