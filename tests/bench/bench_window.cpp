// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window while a What-if slider moves over an open run: from the move until everything is
// painted anew.
#include <algorithm>
#include <cstdio>
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
    std::printf(
        "%-28s median %6.2f ms   worst %6.2f ms\n", name, took[took.size() / 2], took.back());
}

} // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QTemporaryDir folder;
    UiSettings settings(false);
    applyChrome(application, ThemeChoice::Light, 10);
    Session session(app::DataPaths{folder.path()});
    MainWindow window(&session, &settings);
    window.resize(1440, 900);
    window.show();
    session.whatIf()->setDocument(session.document());
    tests::playRun(*session.document(), tests::framesOfRun(base::mebibytes(60)));
    window.showPage(MainWindow::Page::Results);
    RunData* data = window.resultsPage()->data();
    const auto settle = [&] {
        while (!session.whatIf()->isCurrent())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        data->frames()->flush();
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    };
    settle();
    auto* budget =
        qobject_cast<SliderKnob*>(window.resultsPage()->whatIfPanel()->control("budget_bytes"))
            ->slider();
    std::vector<double> input, whole, show;
    QElapsedTimer clock;
    double arrived = 0;
    QObject::connect(
        session.whatIf(), &app::WhatIf::predictionChanged, &window, [&] { arrived = msOf(clock); });
    for (int move = 0; move < 40; ++move) {
        QThread::msleep(20); // a hand that has rested for a frame
        clock.start();
        budget->setValue(budget->maximum() * 2 / 3 + move % 7);
        input.push_back(msOf(clock));
        settle();
        whole.push_back(msOf(clock));
        show.push_back(whole.back() - arrived);
    }
    printRow("slider handled", input);
    printRow("prediction shown, painted", show);
    printRow("move to all painted", whole);
    return 0;
}
