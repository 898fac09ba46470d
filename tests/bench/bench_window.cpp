// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window while a What-if slider moves over an open run: from the move until everything is
// painted anew. Once with a hand that rests between moves, once with one that drags fast: there a
// move counts until a picture of it, or of a later one, stands.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <vector>

#include <QApplication>
#include <QElapsedTimer>
#include <QSlider>
#include <QTemporaryDir>
#include <QThread>

#include "../gui/document_maker.h"
#include "ui/pages/results_page.h"
#include "ui/shell/main_window.h"

using namespace shardscope;
using namespace shardscope::ui;

namespace {

double msOf(const QElapsedTimer& clock) {
    return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

void printRow(const char* name, std::vector<double> took) {
    std::sort(took.begin(), took.end());
    const auto at = [&took](double share) {
        return took[std::min(
            took.size() - 1, static_cast<std::size_t>(share * static_cast<double>(took.size())))];
    };
    std::printf(
        "%-30s p50 %6.2f ms   p90 %6.2f ms   p99 %6.2f ms   worst %6.2f ms   (%zu moves)\n", name,
        at(0.5), at(0.9), at(0.99), took.back(), took.size());
}

constexpr int kCharts = 4; ///< of the results page

/// Counts the paint events of charts.
class PaintWatch : public QObject {
public:
    int paints = 0;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint && watched->inherits("QCustomPlot"))
            ++paints;
        return false;
    }
};

class Bench {
public:
    explicit Bench(const app::DataPaths& paths)
        : m_session(paths), m_window(&m_session, &m_settings) {
        m_window.resize(1440, 900);
        m_window.show();
        m_session.whatIf()->setDocument(m_session.document());
        tests::playRun(*m_session.document(), tests::framesOfRun(base::mebibytes(60)));
        m_window.showPage(MainWindow::Page::Results);
        m_data = m_window.resultsPage()->data();
        m_budget = qobject_cast<SliderKnob*>(
                       m_window.resultsPage()->whatIfPanel()->control("budget_bytes"))
                       ->slider();
        settle();
    }

    /// Moves with rests between them, each waited for.
    void rest(int moves) {
        std::vector<double> input, whole;
        QElapsedTimer clock;
        for (int move = 0; move < moves; ++move) {
            QThread::msleep(20); // a hand that has rested for a frame
            clock.start();
            m_budget->setValue(m_budget->maximum() * 2 / 3 + move % 7);
            input.push_back(msOf(clock));
            settle();
            whole.push_back(msOf(clock));
        }
        printRow("rests: slider handled", input);
        printRow("rests: move to picture", whole);
    }

    /// Moves every `everyMs`, as a mouse sends them, whatever is still on its way.
    void drag(int moves, double everyMs) {
        struct Move {
            plan::RunConfig config;
            double at;
        };
        std::deque<Move> open; // no picture yet
        std::vector<double> took;
        PaintWatch watch;
        qApp->installEventFilter(&watch);
        QElapsedTimer clock;
        clock.start();
        bool isNew = false;
        const auto connection =
            QObject::connect(m_session.whatIf(), &app::WhatIf::predictionChanged, &m_window, [&] {
                isNew = true;
                watch.paints = 0;
            });
        int made = 0;
        while (made < moves || !open.empty()) {
            if (made < moves && msOf(clock) >= made * everyMs) {
                const double at = msOf(clock);
                const int range = m_budget->maximum() / 3;
                const int phase = made % (2 * range);
                m_budget->setValue(m_budget->maximum() * 2 / 3 - std::abs(phase - range));
                open.push_back({m_session.whatIf()->config(), at});
                ++made;
            }
            QCoreApplication::processEvents();
            // What was predicted is on the screen once every chart is painted after it.
            if (isNew && watch.paints >= kCharts && !m_data->frames()->isPending()) {
                isNew = false;
                take(open, took, m_session.whatIf()->prediction().config, msOf(clock));
            }
        }
        QObject::disconnect(connection);
        qApp->removeEventFilter(&watch);
        char name[64];
        std::snprintf(name, sizeof name, "drag, a move each %.0f ms", everyMs);
        printRow(name, took);
    }

private:
    template <typename Open>
    static void
    take(Open& open, std::vector<double>& took, const plan::RunConfig& shown, double now) {
        const auto found = std::find_if(
            open.rbegin(), open.rend(), [&](const auto& move) { return move.config == shown; });
        if (found == open.rend())
            return;
        const auto upTo = found.base();
        for (auto move = open.begin(); move != upTo; ++move)
            took.push_back(now - move->at);
        open.erase(open.begin(), upTo);
    }

    void settle() {
        while (!m_session.whatIf()->isCurrent())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        m_data->frames()->flush();
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }

    UiSettings m_settings{false};
    Session m_session;
    MainWindow m_window;
    RunData* m_data = nullptr;
    QSlider* m_budget = nullptr;
};

} // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QTemporaryDir folder;
    applyChrome(application, ThemeChoice::Light, 10);
    Bench bench(app::DataPaths{folder.path()});
    bench.rest(100);
    bench.drag(400, 8);
    bench.drag(400, 2);
    return 0;
}
