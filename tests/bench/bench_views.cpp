// SPDX-License-Identifier: GPL-3.0-or-later
// What a frame costs: moves the prediction, the visible range and the cursor of a page of charts,
// and prints the time of each redraw. With a folder as argument it also writes what it drew there.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <QApplication>
#include <QDir>
#include <QFontDatabase>
#include <QMouseEvent>
#include <QVBoxLayout>

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

/// All charts in a column, as the results page stacks them.
struct Page {
    RunData data;
    QWidget window;
    OverviewStrip* overview = new OverviewStrip(&data);
    RamTimelineView* ram = new RamTimelineView(&data);
    ArenaMapView* arena = new ArenaMapView(&data);
    LanesView* lanes = new LanesView(&data);
    TokenLatencyView* tokens = new TokenLatencyView(&data);
    LayoutStrip* layout = new LayoutStrip(&data);

    Page() {
        auto* column = new QVBoxLayout(&window);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        column->addWidget(overview);
        column->addWidget(ram, 3);
        column->addWidget(arena, 3);
        column->addWidget(lanes, 2);
        column->addWidget(tokens, 2);
        column->addWidget(layout);
        for (TimePlot* plot : plots())
            plot->setTimeAxisVisible(plot == tokens);
        window.resize(1400, 900);
        window.show();
    }
    std::vector<TimePlot*> plots() const { return {ram, arena, lanes, tokens}; }
    void setTheme(const Theme& theme) {
        for (TimePlot* plot : plots())
            plot->setTheme(theme);
        overview->setTheme(theme);
        layout->setTheme(theme);
    }
    /// Everything that was asked for is on the screen after this.
    void draw() {
        data.frames()->flush();
        QCoreApplication::processEvents();
    }
};

void measure(const char* what, int times, const std::function<void(int)>& step) {
    std::vector<double> ms;
    for (int i = 0; i < times; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        step(i);
        const auto end = std::chrono::steady_clock::now();
        ms.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
    }
    std::sort(ms.begin(), ms.end());
    const auto n = ms.size();
    std::printf(
        "%-44s median %6.2f ms   p90 %6.2f ms   max %6.2f ms\n", what, ms[n / 2], ms[n * 9 / 10],
        ms.back());
}

void benchPage(Page& page, const std::vector<std::shared_ptr<const trace::Trace>>& predictions) {
    TimeState* time = page.data.time();
    const TimeRange run = time->run();
    measure("slider move: prediction indexed, all redrawn", 60, [&](int i) {
        page.data.setPredicted(predictions[static_cast<std::size_t>(i) % predictions.size()]);
        page.draw();
    });
    measure("zoom step, all redrawn", 40, [&](int) {
        time->zoomAt(run.begin + Nanos(run.span().value / 2), 0.9);
        page.draw();
    });
    measure("pan step, all redrawn", 40, [&](int i) {
        time->panBy(Nanos(time->visible().span().value / (i % 2 ? 9 : -10)));
        page.draw();
    });
    time->home();
    page.draw();
    measure("cursor move, overlays only", 60, [&](int i) {
        time->setCursor(run.begin + Nanos(run.span().value / 60 * i));
        page.draw();
    });
}

void benchLongRun(const std::string& card, const std::string& board) {
    const auto run = tests::simulatedRun(card, board, 224, {"--budget", "40MiB"}, 50);
    std::printf("\nlong run: %zu events\n", run->events.size());
    measure("index from the begin", 3, [&](int) {
        analyze::RunIndex index;
        index.update(*run);
    });
    Page page;
    page.data.setMeasured(run.get());
    page.draw();
    benchPage(page, {nullptr});
}

void grab(Page& page, const QDir& folder, const QString& name) {
    page.draw();
    page.window.grab().save(folder.filePath(name));
}

QWidget* canvasOf(TimePlot* plot) {
    return plot->findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
}

void hover(TimePlot* plot, QPointF at) {
    QWidget* canvas = canvasOf(plot);
    QMouseEvent move(
        QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
    QCoreApplication::sendEvent(canvas, &move);
}

void writePictures(Page& page, const QDir& folder) {
    TimeState* time = page.data.time();
    const TimeRange run = time->run();
    const auto at = [&run](double share) {
        return run.begin + Nanos(static_cast<std::int64_t>(run.span().real() * share));
    };
    for (const bool dark : {false, true}) {
        QEvent leave(QEvent::Leave);
        const QString suffix = dark ? "-dark.png" : "-light.png";
        page.setTheme(dark ? Theme::dark() : Theme::light());
        time->home();
        time->setSelection(std::nullopt);
        time->setCursor(at(0.5));
        grab(page, folder, "all" + suffix);
        time->zoomTo({at(0.55), at(0.62)});
        time->setSelection(TimeRange{at(0.57), at(0.585)});
        time->setCursor(at(0.6));
        page.draw();
        hover(page.lanes, {700, 90});
        grab(page, folder, "zoomed" + suffix);
        QCoreApplication::sendEvent(canvasOf(page.lanes), &leave);
        time->zoomTo({at(0.6), at(0.603)});
        time->setSelection(std::nullopt);
        page.draw();
        hover(page.arena, {500, 90});
        grab(page, folder, "near" + suffix);
        QCoreApplication::sendEvent(canvasOf(page.arena), &leave);
        page.window.resize(820, 560);
        time->home();
        grab(page, folder, "small" + suffix);
        page.window.resize(1400, 900);
        page.lanes->exportTo(folder.filePath("lanes" + suffix));
    }
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    for (const char* face : {"Regular", "Medium", "SemiBold"})
        QFontDatabase::addApplicationFont(
            QStringLiteral(RESOURCES_DIR "/fonts/Inter-%1.otf").arg(QLatin1String(face)));
    QFont font(QStringLiteral("Inter"));
    font.setPixelSize(12);
    QApplication::setFont(font);

    const std::string card = "card:whisper-tiny.en", board = "v851s-512m-nand";
    std::vector<std::shared_ptr<const trace::Trace>> predictions;
    for (const char* budget : {"30MiB", "36MiB", "44MiB", "60MiB"})
        predictions.push_back(
            tests::simulatedRun(card, board, 150, {"--budget", budget, "--decoder-shard", "1"}));
    const auto base = tests::simulatedRun(card, board, 150, {"--budget", "40MiB"});
    const trace::Trace measured = tests::asMeasured(*base);

    Page page;
    page.data.setMeasured(&measured);
    page.data.setPredicted(predictions.front());
    page.draw();
    std::printf(
        "%zu events measured, %zu predicted\n", measured.events.size(),
        predictions.front()->events.size());
    if (argc > 1) {
        writePictures(page, QDir(QString::fromLocal8Bit(argv[1])));
        return 0;
    }
    benchPage(page, predictions);
    benchLongRun(card, board);
    return 0;
}
