// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QTest>

#include "tests/unit/trace_maker.h"
#include "ui/state/run_data.h"

using namespace shardscope;
using namespace shardscope::ui;
using base::Nanos;

namespace {

constexpr std::int64_t kRun = 1'000'000;

TimeRange range(std::int64_t begin, std::int64_t end) {
    return {Nanos(begin), Nanos(end)};
}

} // namespace

class TestTimeState : public QObject {
    Q_OBJECT

private slots:
    void init() { m_time.reset(range(0, kRun)); }

    void zoomKeepsThePlaceUnderThePointer();
    void nothingIsShownOutsideOfTheRun();
    void stepsAreUndoneOneByOne();
    void aGestureIsUndoneAsOne();
    void escapeClearsTheSelectionThenAZoom();
    void escapeNeverLosesTheRun();
    void filtersNestAndAreUndone();
    void removingAFilterDropsThoseWithinIt();
    void homeStaysWithinTheFilter();
    void aLiveRunIsFollowedUntilOnePans();
    void aZoomedLiveViewSlides();
    void predictionsStretchTheRun();
    void selectionsAreOrdered();
    void unchangedValuesAreNotSignalled();
    void framesGatherRequests();

private:
    TimeState m_time;
};

void TestTimeState::zoomKeepsThePlaceUnderThePointer() {
    m_time.zoomTo(range(200'000, 600'000));
    m_time.zoomAt(Nanos(300'000), 0.5);
    QCOMPARE_EQ(m_time.visible(), range(250'000, 450'000));
    m_time.zoomAt(Nanos(300'000), 2);
    QCOMPARE_EQ(m_time.visible(), range(200'000, 600'000));
}

void TestTimeState::nothingIsShownOutsideOfTheRun() {
    m_time.zoomAt(Nanos(0), 4);
    QCOMPARE_EQ(m_time.visible(), range(0, kRun));
    m_time.zoomTo(range(-500, 100'000));
    QCOMPARE_EQ(m_time.visible().begin, Nanos(0));
    m_time.panBy(Nanos(kRun * 5));
    QCOMPARE_EQ(m_time.visible().end, Nanos(kRun));
    m_time.zoomTo(range(5, 6));
    QCOMPARE_EQ(m_time.visible().span(), TimeState::kShortest);
}

void TestTimeState::stepsAreUndoneOneByOne() {
    QVERIFY(!m_time.canGoBack());
    m_time.zoomTo(range(0, 500'000));
    m_time.zoomTo(range(0, 100'000));
    m_time.home();
    m_time.back();
    QCOMPARE_EQ(m_time.visible(), range(0, 100'000));
    m_time.back();
    QCOMPARE_EQ(m_time.visible(), range(0, 500'000));
    m_time.back();
    QCOMPARE_EQ(m_time.visible(), range(0, kRun));
    m_time.back();
    QVERIFY(!m_time.canGoBack());
}

void TestTimeState::aGestureIsUndoneAsOne() {
    for (int i = 0; i < 10; ++i)
        m_time.zoomAt(Nanos(500'000), 0.8);
    m_time.back();
    QVERIFY(m_time.showsAll());
    QVERIFY(!m_time.canGoBack());
}

void TestTimeState::escapeClearsTheSelectionThenAZoom() {
    m_time.zoomTo(range(0, 500'000));
    m_time.setSelection(range(10, 20));
    m_time.clear();
    QVERIFY(!m_time.selection());
    QCOMPARE_EQ(m_time.visible(), range(0, 500'000));
    m_time.clear();
    QVERIFY(m_time.showsAll());
}

void TestTimeState::escapeNeverLosesTheRun() {
    m_time.clear();
    m_time.clear();
    QCOMPARE_EQ(m_time.run(), range(0, kRun));
    QVERIFY(m_time.showsAll());
}

void TestTimeState::filtersNestAndAreUndone() {
    m_time.pushFilter(range(100'000, 700'000));
    m_time.pushFilter(range(600'000, 900'000)); // only what both let through
    QCOMPARE_EQ(m_time.bounds(), range(600'000, 700'000));
    QCOMPARE_EQ(m_time.visible(), range(600'000, 700'000));
    m_time.back();
    QCOMPARE_EQ(m_time.bounds(), range(100'000, 700'000));
    m_time.back();
    QVERIFY(m_time.filters().empty());
    QVERIFY(m_time.showsAll());
}

void TestTimeState::removingAFilterDropsThoseWithinIt() {
    m_time.pushFilter(range(100'000, 900'000));
    m_time.pushFilter(range(200'000, 800'000));
    m_time.pushFilter(range(300'000, 700'000));
    m_time.removeFilter(1);
    QCOMPARE_EQ(m_time.filters().size(), std::size_t(1));
    QCOMPARE_EQ(m_time.visible(), range(100'000, 900'000));
    m_time.removeFilter(5);
    QCOMPARE_EQ(m_time.filters().size(), std::size_t(1));
    m_time.back();
    QCOMPARE_EQ(m_time.filters().size(), std::size_t(3));
}

void TestTimeState::homeStaysWithinTheFilter() {
    m_time.pushFilter(range(100'000, 200'000));
    m_time.zoomTo(range(150'000, 160'000));
    m_time.home();
    QCOMPARE_EQ(m_time.visible(), range(100'000, 200'000));
}

void TestTimeState::aLiveRunIsFollowedUntilOnePans() {
    m_time.setLive(true);
    m_time.setRun(range(0, 2 * kRun));
    QVERIFY(m_time.showsAll()); // all of it, also of what came
    m_time.zoomTo(range(0, 100'000));
    QVERIFY(!m_time.followsLive());
    m_time.setRun(range(0, 3 * kRun));
    QCOMPARE_EQ(m_time.visible(), range(0, 100'000));
    m_time.resume();
    QVERIFY(m_time.followsLive());
    QCOMPARE_EQ(m_time.visible(), range(3 * kRun - 100'000, 3 * kRun));
    m_time.setLive(false);
    QVERIFY(!m_time.followsLive());
}

void TestTimeState::aZoomedLiveViewSlides() {
    m_time.setLive(true);
    m_time.zoomTo(range(900'000, kRun));
    m_time.resume();
    m_time.setRun(range(0, kRun + 50'000));
    QCOMPARE_EQ(m_time.visible(), range(950'000, kRun + 50'000));
    m_time.setLive(false);
}

void TestTimeState::predictionsStretchTheRun() {
    RunData data;
    tests::TraceMaker run, prediction;
    run.compute(0, 0, 1000);
    prediction.compute(0, 0, 5000);
    data.setMeasured(&run.trace());
    QCOMPARE_EQ(data.time()->run(), range(0, 1000));
    data.setPredicted(std::make_shared<trace::Trace>(prediction.trace()));
    QCOMPARE_EQ(data.time()->run(), range(0, 5000));
    QVERIFY(data.time()->showsAll());
    data.setPredicted(nullptr);
    QCOMPARE_EQ(data.time()->run(), range(0, 1000));
    run.compute(1000, 0, 4000);
    QSignalSpy changed(&data, &RunData::measuredChanged);
    data.eventsAppended();
    QCOMPARE_EQ(changed.count(), 1);
    QCOMPARE_EQ(data.measuredIndex()->end(), Nanos(5000));
    data.setMeasured(nullptr);
    QVERIFY(!data.shownIndex());
}

void TestTimeState::selectionsAreOrdered() {
    m_time.setSelection(range(500, 100));
    QCOMPARE_EQ(*m_time.selection(), range(100, 500));
    m_time.zoomToSelection();
    QCOMPARE_EQ(m_time.visible(), range(100, 500));
}

void TestTimeState::unchangedValuesAreNotSignalled() {
    QSignalSpy cursor(&m_time, &TimeState::cursorChanged);
    QSignalSpy visible(&m_time, &TimeState::visibleChanged);
    QSignalSpy hover(&m_time, &TimeState::hoverChanged);
    m_time.setCursor(Nanos(5));
    m_time.setCursor(Nanos(5));
    m_time.setHovered({Item::Kind::Shard, 3});
    m_time.setHovered({Item::Kind::Shard, 3});
    m_time.home();
    m_time.reveal(Nanos(7));
    QCOMPARE_EQ(cursor.count(), 1);
    QCOMPARE_EQ(hover.count(), 1);
    QCOMPARE_EQ(visible.count(), 0);
}

void TestTimeState::framesGatherRequests() {
    FrameScheduler frames;
    int drawn = 0;
    QObject client;
    for (int i = 0; i < 5; ++i)
        frames.request(&client, [&drawn] { ++drawn; });
    QCOMPARE_EQ(drawn, 0);
    QTRY_COMPARE_EQ(drawn, 1);
    auto* gone = new QObject;
    frames.request(gone, [&drawn] { ++drawn; });
    delete gone;
    frames.flush();
    QCOMPARE_EQ(drawn, 1);
}

QTEST_GUILESS_MAIN(TestTimeState)
#include "tst_time_state.moc"
