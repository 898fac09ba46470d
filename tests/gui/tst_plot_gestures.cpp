// SPDX-License-Identifier: GPL-3.0-or-later
// Real events sent to the charts: what the hands do, and what the eyes get.
#include <algorithm>
#include <cmath>
#include <memory>

#include <QFileInfo>
#include <QMenu>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "tests/gui/simulated_run.h"
#include "ui/plot/arena_map_view.h"
#include "ui/plot/lanes_view.h"
#include "ui/plot/layout_strip.h"
#include "ui/plot/overview_strip.h"
#include "ui/plot/ram_timeline_view.h"
#include "ui/plot/token_latency_view.h"

using namespace shardscope;
using namespace shardscope::ui;
using base::Nanos;

namespace {

/// The widget that takes the events of a chart.
QWidget* canvas(TimePlot* plot) {
    return plot->findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
}

void sendMouse(
    QWidget* to, QEvent::Type type, QPointF at, Qt::MouseButton button, Qt::MouseButtons buttons) {
    QMouseEvent event(type, at, to->mapToGlobal(at), button, buttons, Qt::NoModifier);
    QCoreApplication::sendEvent(to, &event);
}

void drag(QWidget* on, QPointF from, QPointF to, Qt::MouseButton button) {
    sendMouse(on, QEvent::MouseButtonPress, from, button, button);
    for (int i = 1; i <= 4; ++i)
        sendMouse(on, QEvent::MouseMove, from + (to - from) * i / 4, Qt::NoButton, button);
    sendMouse(on, QEvent::MouseButtonRelease, to, button, Qt::NoButton);
}

void click(QWidget* on, QPointF at) {
    sendMouse(on, QEvent::MouseButtonPress, at, Qt::LeftButton, Qt::LeftButton);
    sendMouse(on, QEvent::MouseButtonRelease, at, Qt::LeftButton, Qt::NoButton);
}

void wheel(QWidget* on, QPointF at, int notches, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(
        at, on->mapToGlobal(at), {}, QPoint(0, notches * 120), Qt::NoButton, modifiers,
        Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(on, &event);
}

double realSpan(const TimeRange& range) {
    return range.span().real();
}

} // namespace

class TestPlotGestures : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void allChartsShareTheirEdges();
    void wheelZoomsAtThePointer();
    void controlZoomsFiner();
    void shiftWheelPans();
    void rightDragPans();
    void middleDragPans();
    void leftDragSelects();
    void edgesOfTheSelectionAreDraggable();
    void wheelOverTheValueAxisZoomsValues();
    void keysMoveTheView();
    void doubleClickFitsTheItemOrAll();
    void hoverMovesTheCursorOfAllViews();
    void hoverMarksTheSameShardElsewhere();
    void clickOnAReadTellsTheReason();
    void rightClickAsksForAMenu();
    void dataIsTakenAsCsv();
    void overviewMovesTheWindow();
    void layoutStripFollowsTheCursor();
    void chartsAreExported();
    void chartsDrawDataInBothThemes();
    void emptyChartsDraw();

private:
    QPointF at(TimePlot* plot, double share, int y = 60) const {
        return {plot->plotLeft() + share * (plot->plotRight() - plot->plotLeft()), double(y)};
    }
    std::vector<TimePlot*> plots() const { return {m_ram, m_arena, m_lanes, m_tokens}; }
    void draw() {
        m_data->frames()->flush();
        QCoreApplication::processEvents();
    }
    Nanos when(double share) const {
        return Nanos(static_cast<std::int64_t>(share * realSpan(m_time->run())));
    }
    /// A point on the middle of a read that is wide enough to be hit alone.
    QPointF pointOnRead();

    std::shared_ptr<const trace::Trace> m_simulated;
    trace::Trace m_measured;
    std::unique_ptr<RunData> m_data;
    std::unique_ptr<QWidget> m_window;
    TimeState* m_time = nullptr;
    RamTimelineView* m_ram = nullptr;
    ArenaMapView* m_arena = nullptr;
    LanesView* m_lanes = nullptr;
    TokenLatencyView* m_tokens = nullptr;
    OverviewStrip* m_overview = nullptr;
    LayoutStrip* m_layout = nullptr;
};

void TestPlotGestures::initTestCase() {
    m_simulated =
        tests::simulatedRun("card:whisper-tiny.en", "v851s-512m-nand", 20, {"--budget", "40MiB"});
    m_measured = tests::asMeasured(*m_simulated);
}

void TestPlotGestures::init() {
    // The offscreen platform says at each window that it has no size hints.
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support)")));
    m_data = std::make_unique<RunData>();
    m_window = std::make_unique<QWidget>();
    m_time = m_data->time();
    auto* column = new QVBoxLayout(m_window.get());
    column->addWidget(m_overview = new OverviewStrip(m_data.get()));
    column->addWidget(m_ram = new RamTimelineView(m_data.get()));
    column->addWidget(m_arena = new ArenaMapView(m_data.get()));
    column->addWidget(m_lanes = new LanesView(m_data.get()));
    column->addWidget(m_tokens = new TokenLatencyView(m_data.get()));
    column->addWidget(m_layout = new LayoutStrip(m_data.get()));
    m_window->resize(1000, 900);
    m_data->setMeasured(&m_measured);
    m_data->setPredicted(m_simulated);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    draw();
}

void TestPlotGestures::cleanup() {
    m_window.reset();
    m_data.reset();
}

void TestPlotGestures::allChartsShareTheirEdges() {
    for (TimePlot* plot : plots()) {
        QCOMPARE_EQ(plot->plotLeft(), m_ram->plotLeft());
        QCOMPARE_EQ(plot->plotRight(), m_ram->plotRight());
    }
}

void TestPlotGestures::wheelZoomsAtThePointer() {
    wheel(canvas(m_ram), at(m_ram, 0.25), 1);
    const TimeRange v = m_time->visible();
    QVERIFY(realSpan(v) < realSpan(m_time->run()));
    const double share = (when(0.25) - v.begin).real() / realSpan(v);
    QVERIFY(std::abs(share - 0.25) < 0.01);
}

void TestPlotGestures::controlZoomsFiner() {
    wheel(canvas(m_ram), at(m_ram, 0.5), 1, Qt::ControlModifier);
    const double fine = realSpan(m_time->visible()) / realSpan(m_time->run());
    m_time->home();
    wheel(canvas(m_ram), at(m_ram, 0.5), 1);
    const double coarse = realSpan(m_time->visible()) / realSpan(m_time->run());
    QVERIFY(coarse < fine && fine < 1);
}

void TestPlotGestures::shiftWheelPans() {
    m_time->zoomTo({when(0.4), when(0.6)});
    wheel(canvas(m_lanes), at(m_lanes, 0.5), -1, Qt::ShiftModifier);
    QVERIFY(m_time->visible().begin > when(0.4));
    QCOMPARE_EQ(m_time->visible().span(), when(0.6) - when(0.4));
}

void TestPlotGestures::rightDragPans() {
    m_time->zoomTo({when(0.4), when(0.6)});
    drag(canvas(m_arena), at(m_arena, 0.5), at(m_arena, 0.25), Qt::RightButton);
    const double moved = (m_time->visible().begin - when(0.4)).real() / realSpan(m_time->visible());
    QVERIFY(std::abs(moved - 0.25) < 0.01);
    QVERIFY(!m_time->selection());
}

void TestPlotGestures::middleDragPans() {
    m_time->zoomTo({when(0.4), when(0.6)});
    drag(canvas(m_ram), at(m_ram, 0.25), at(m_ram, 0.5), Qt::MiddleButton);
    QVERIFY(m_time->visible().begin < when(0.4));
    m_time->back();
    QCOMPARE_EQ(m_time->visible().begin, when(0.4));
}

void TestPlotGestures::leftDragSelects() {
    drag(canvas(m_tokens), at(m_tokens, 0.6), at(m_tokens, 0.3), Qt::LeftButton);
    QVERIFY(m_time->selection());
    QVERIFY(std::abs(m_time->selection()->begin.real() / when(0.3).real() - 1) < 0.01);
    QVERIFY(std::abs(m_time->selection()->end.real() / when(0.6).real() - 1) < 0.01);
    QVERIFY(m_time->showsAll());
}

void TestPlotGestures::edgesOfTheSelectionAreDraggable() {
    m_time->setSelection(TimeRange{when(0.3), when(0.6)});
    drag(canvas(m_ram), at(m_ram, 0.6), at(m_ram, 0.8), Qt::LeftButton);
    QCOMPARE_EQ(m_time->selection()->begin, when(0.3));
    QVERIFY(std::abs(m_time->selection()->end.real() / when(0.8).real() - 1) < 0.01);
    // Dragged over the other edge it becomes that one.
    drag(canvas(m_ram), at(m_ram, 0.8), at(m_ram, 0.1), Qt::LeftButton);
    QCOMPARE_EQ(m_time->selection()->end, when(0.3));
}

void TestPlotGestures::wheelOverTheValueAxisZoomsValues() {
    const QImage before = m_ram->grab().toImage();
    wheel(canvas(m_ram), QPointF(10, 100), 3);
    draw();
    QVERIFY(m_time->showsAll());
    QVERIFY(m_ram->grab().toImage() != before);
    sendMouse(
        canvas(m_ram), QEvent::MouseButtonDblClick, {10, 100}, Qt::LeftButton, Qt::LeftButton);
    draw();
    QVERIFY(m_ram->grab().toImage() == before);
}

void TestPlotGestures::keysMoveTheView() {
    m_ram->setFocus();
    QTest::keyClick(m_ram, Qt::Key_W);
    const TimeRange zoomed = m_time->visible();
    QVERIFY(realSpan(zoomed) < realSpan(m_time->run()));
    QTest::keyClick(m_ram, Qt::Key_D);
    QVERIFY(m_time->visible().begin > zoomed.begin);
    QTest::keyClick(m_ram, Qt::Key_A);
    QCOMPARE_EQ(m_time->visible(), zoomed);
    QTest::keyClick(m_ram, Qt::Key_Home);
    QVERIFY(m_time->showsAll());
    QTest::keyClick(m_ram, Qt::Key_Backspace);
    QCOMPARE_EQ(m_time->visible(), zoomed);
    m_time->setSelection(TimeRange{when(0.45), when(0.5)});
    QTest::keyClick(m_ram, Qt::Key_Return);
    QCOMPARE_EQ(m_time->visible(), (TimeRange{when(0.45), when(0.5)}));
    QTest::keyClick(m_ram, Qt::Key_F);
    QCOMPARE_EQ(m_time->filters().size(), std::size_t(1));
    QTest::keyClick(m_ram, Qt::Key_Escape);
    QTest::keyClick(m_ram, Qt::Key_Left, Qt::AltModifier);
    QVERIFY(m_time->filters().empty());
}

void TestPlotGestures::doubleClickFitsTheItemOrAll() {
    sendMouse(
        canvas(m_tokens), QEvent::MouseButtonDblClick, at(m_tokens, 0.8), Qt::LeftButton,
        Qt::LeftButton);
    QVERIFY(!m_time->showsAll());
    const auto bar = m_data->measuredIndex()->tokens().barAt(when(0.8));
    QVERIFY(bar);
    const auto& token = m_data->measuredIndex()->tokens().bars()[*bar];
    QVERIFY(m_time->visible().contains(Nanos(token.begin)));
    QVERIFY(m_time->visible().contains(Nanos(token.end)));
    draw();
    sendMouse( // RAM has no items: all
        canvas(m_ram), QEvent::MouseButtonDblClick, at(m_ram, 0.5), Qt::LeftButton, Qt::LeftButton);
    QVERIFY(m_time->showsAll());
}

void TestPlotGestures::hoverMovesTheCursorOfAllViews() {
    QSignalSpy status(m_ram, &TimePlot::statusChanged);
    sendMouse(canvas(m_ram), QEvent::MouseMove, at(m_ram, 0.5, 150), Qt::NoButton, Qt::NoButton);
    QVERIFY(m_time->cursor());
    QVERIFY(std::abs(m_time->cursor()->real() / when(0.5).real() - 1) < 0.01);
    QCOMPARE_EQ(status.count(), 1);
    QVERIFY(status[0][0].toString().contains(QLatin1String("arena: ")));
}

QPointF TestPlotGestures::pointOnRead() {
    const auto& reads = m_data->measuredIndex()->lane(analyze::SpanLaneKind::Read).spans();
    const auto found = std::find_if(reads.begin() + 20, reads.end(), [](const analyze::Span& s) {
        return s.id != trace::kRowRead && s.duration() > 1'000'000;
    });
    m_time->zoomTo(
        {Nanos(found->begin - found->duration()), Nanos(found->end + found->duration())});
    draw();
    return at(m_lanes, 0.5, canvas(m_lanes)->height() / 2);
}

void TestPlotGestures::hoverMarksTheSameShardElsewhere() {
    const QPointF point = pointOnRead();
    const QImage before = m_arena->grab().toImage();
    sendMouse(canvas(m_lanes), QEvent::MouseMove, point, Qt::NoButton, Qt::NoButton);
    QCOMPARE_EQ(m_time->hovered().kind, Item::Kind::Shard);
    draw();
    QVERIFY(m_arena->grab().toImage() != before);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(canvas(m_lanes), &leave);
    QVERIFY(!m_time->hovered().valid());
}

void TestPlotGestures::clickOnAReadTellsTheReason() {
    QSignalSpy activated(m_lanes, &TimePlot::itemActivated);
    click(canvas(m_lanes), pointOnRead());
    QCOMPARE_EQ(activated.count(), 1);
    const QString text = activated[0][2].toString();
    QVERIFY2(
        text.contains(QLatin1String("streamed")) || text.contains(QLatin1String("pinned")),
        qPrintable(text));
}

void TestPlotGestures::rightClickAsksForAMenu() {
    QSignalSpy asked(m_ram, &TimePlot::contextMenuAboutToShow);
    m_time->setSelection(TimeRange{when(0.2), when(0.4)});
    sendMouse(
        canvas(m_ram), QEvent::MouseButtonPress, at(m_ram, 0.5), Qt::RightButton, Qt::RightButton);
    sendMouse(
        canvas(m_ram), QEvent::MouseButtonRelease, at(m_ram, 0.5), Qt::RightButton, Qt::NoButton);
    QCOMPARE_EQ(asked.count(), 1);
    auto* menu = m_ram->findChild<QMenu*>();
    QVERIFY(menu && menu->isVisible());
    menu->actions().front()->trigger();
    QCOMPARE_EQ(m_time->visible(), (TimeRange{when(0.2), when(0.4)}));
    menu->close();
}

void TestPlotGestures::dataIsTakenAsCsv() {
    m_time->zoomTo({when(0.8), when(0.9)});
    for (TimePlot* plot : plots()) {
        const QStringList lines = plot->csv().split(QLatin1String("\r\n"));
        QVERIFY2(lines.size() > 3, qPrintable(plot->title()));
        for (const QString& line : lines.first(lines.size() - 1))
            QVERIFY(line.count(QLatin1Char(',')) >= lines.first().count(QLatin1Char(',')));
    }
}

void TestPlotGestures::overviewMovesTheWindow() {
    const double left = m_ram->plotLeft(), width = m_ram->plotRight() - left;
    const auto x = [&](double share) { return QPointF(left + share * width, 15); };
    drag(m_overview, x(0.2), x(0.4), Qt::LeftButton); // a new window
    QVERIFY(std::abs(realSpan(m_time->visible()) / realSpan(m_time->run()) - 0.2) < 0.02);
    drag(m_overview, x(0.3), x(0.6), Qt::LeftButton); // moved
    QVERIFY(std::abs(m_time->visible().begin.real() / when(0.5).real() - 1) < 0.02);
    drag(m_overview, x(0.7), x(0.9), Qt::LeftButton); // its end
    QVERIFY(std::abs(m_time->visible().end.real() / when(0.9).real() - 1) < 0.02);
    sendMouse(m_overview, QEvent::MouseButtonDblClick, x(0.5), Qt::LeftButton, Qt::LeftButton);
    QVERIFY(m_time->showsAll());
}

void TestPlotGestures::layoutStripFollowsTheCursor() {
    m_time->setCursor(when(0.02));
    draw();
    const QImage early = m_layout->grab().toImage();
    m_time->setCursor(when(0.9));
    draw();
    QVERIFY(m_layout->grab().toImage() != early);
    QSignalSpy activated(m_layout, &LayoutStrip::itemActivated);
    QTest::mouseClick(m_layout, Qt::LeftButton, {}, QPoint(60, m_layout->height() - 15));
    QCOMPARE_EQ(activated.count(), 1);
}

void TestPlotGestures::chartsAreExported() {
    QTemporaryDir folder;
    for (const char* name : {"a.png", "a.pdf"}) {
        const QString path = folder.filePath(QLatin1String(name));
        QVERIFY(m_ram->exportTo(path));
        QVERIFY(QFileInfo(path).size() > 1000);
    }
    QVERIFY(!m_ram->exportTo(folder.filePath(QStringLiteral("no/such/folder.png"))));
}

void TestPlotGestures::chartsDrawDataInBothThemes() {
    for (const Theme& theme : {Theme::light(), Theme::dark()}) {
        for (TimePlot* plot : plots())
            plot->setTheme(theme);
        m_overview->setTheme(theme);
        m_layout->setTheme(theme);
        draw();
        const QImage ram = m_ram->grab().toImage();
        QCOMPARE_EQ(ram.pixelColor(1, ram.height() - 2), theme.background);
        int pinned = 0;
        for (int x = 0; x < ram.width(); ++x)
            for (int y = 0; y < ram.height(); ++y)
                pinned += ram.pixelColor(x, y) == theme.of(model::Region::PinnedWeights);
        QVERIFY2(pinned > 20000, qPrintable(QString::number(pinned)));
    }
}

void TestPlotGestures::emptyChartsDraw() {
    m_data->setMeasured(nullptr);
    m_data->setPredicted(nullptr);
    draw();
    for (TimePlot* plot : plots()) {
        QVERIFY(!plot->grab().isNull());
        sendMouse(canvas(plot), QEvent::MouseMove, at(plot, 0.5), Qt::NoButton, Qt::NoButton);
        click(canvas(plot), at(plot, 0.5));
        wheel(canvas(plot), at(plot, 0.5), 2);
    }
    // A prediction alone is shown as a run is.
    m_data->setPredicted(m_simulated);
    draw();
    QVERIFY(m_data->shownIndex());
    sendMouse(canvas(m_ram), QEvent::MouseMove, at(m_ram, 0.5, 150), Qt::NoButton, Qt::NoButton);
}

QTEST_MAIN(TestPlotGestures)
#include "tst_plot_gestures.moc"
