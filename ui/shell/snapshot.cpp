// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/snapshot.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QLocale>
#include <QPixmap>
#include <QTimer>
#include <cstdio>
#include <functional>

#include "app/remote/board_source.h"
#include "app/remote/sample.h"
#include "sim_engine/plan/knobs.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/results_page.h"
#include "ui/pages/trade_off_panel.h"
#include "ui/plot/pareto_chart.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/help_overlay.h"
#include "ui/shell/main_window.h"

namespace shardscope::ui {
namespace {

constexpr int kRunMs = 120'000;
constexpr int kPredictMs = 20'000;

/// Turns the event loop until `done` or the time is over.
bool waitFor(const std::function<bool()>& done, int ms) {
    QElapsedTimer clock;
    clock.start();
    while (!done() && clock.elapsed() < ms)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    return done();
}

class Photographer {
public:
    explicit Photographer(const app::WindowOptions& options)
        : m_options(options), m_session(options.paths), m_settings(false) {
        m_settings.setTheme(ThemeChoice::Light);
        applyChrome(
            *qobject_cast<QApplication*>(qApp), ThemeChoice::Light, m_settings.fontPoints());
        m_window = std::make_unique<MainWindow>(&m_session, &m_settings);
        m_window->resize(options.width, options.height);
        m_window->show();
    }

    int work() {
        if (!QDir().mkpath(m_options.snapshotDir))
            return complain(m_options.snapshotDir);
        photograph("start-empty", MainWindow::Page::Start, m_session.runs()->rowCount() == 0);
        openRun();
        if (m_options.demo)
            runOnceMore();
        for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
            setTheme(theme);
            photographAll();
        }
        for (const ThemeChoice theme : {ThemeChoice::Dark, ThemeChoice::Light}) {
            setTheme(theme);
            photographPlans();
        }
        return m_failed.isEmpty() ? 0 : complain(m_failed);
    }

private:
    void setTheme(ThemeChoice theme) {
        m_settings.setTheme(theme);
        m_window->applyAppearance();
        m_suffix = theme == ThemeChoice::Dark ? "-dark" : "";
    }

    void openRun() {
        open([this] {
            if (!m_options.file.isEmpty())
                m_session.openFile(m_options.file);
            else if (m_session.runs()->rowCount() > 0)
                m_session.openRun(m_session.runs()->runs().front().uuid);
            else
                planSomething();
        });
    }

    /// Does what opens a run and waits until it is shown.
    void open(const std::function<void()>& order) {
        bool done = false;
        const auto connection = QObject::connect(
            m_session.document(), &app::RunDocument::replaced, m_window.get(),
            [&] { done = true; });
        order();
        waitFor([&] { return done; }, kPredictMs);
        QObject::disconnect(connection);
        settle();
    }

    /// A plan is the most that there is to show on a machine without runs.
    void planSomething() {
        const auto board = app::presetBoard(QStringLiteral("rk3588-16g-emmc"));
        if (board)
            m_session.plan(QStringLiteral("card:whisper-small"), *board);
    }

    /// The sample with other settings, live: something to compare with, and a picture on the way.
    void runOnceMore() {
        auto order = app::demoOrder();
        if (!order)
            return;
        plan::RunConfig config = order->config;
        if (!plan::setKnob(config, "--slots", "1") || !plan::setKnob(config, "--cross-kv", "q8"))
            return;
        order->config = config;
        const QString before = m_session.document()->uuid();
        m_session.run(*order);
        auto* document = m_session.document();
        waitFor(
            [&] { return document->tokens() >= 3 || !m_session.controller()->isRunning(); },
            kRunMs);
        if (m_session.controller()->isRunning())
            photograph("results-live", MainWindow::Page::Results, true);
        waitFor([&] { return !m_session.controller()->isRunning(); }, kRunMs);
        m_window->comparePage()->compare(before, document->uuid());
        open([&] { m_session.openRun(before); });
    }

    void settle() {
        waitFor([this] { return m_session.whatIf()->isCurrent(); }, kPredictMs);
        QEventLoop turn; // the last frame of the views
        QTimer::singleShot(200, &turn, &QEventLoop::quit);
        turn.exec();
    }

    void photographAll() {
        photograph("start", MainWindow::Page::Start, true);
        photograph("boards", MainWindow::Page::Boards, true);
        placeCursor();
        photograph("results", MainWindow::Page::Results, true);
        changeSettings("--budget", "22MiB");
        photograph("what-if", MainWindow::Page::Results, true);
        photographTabs();
        m_session.whatIf()->reset();
        changeSettings("--budget", "1MiB");
        photograph("infeasible", MainWindow::Page::Results, true);
        m_session.whatIf()->reset();
        m_window->resultsPage()->findEvents();
        photograph("events", MainWindow::Page::Results, true);
        m_window->resultsPage()->showCosts();
        photograph("costs", MainWindow::Page::Results, true);
        m_window->resultsPage()->showTranscript();
        m_window->showPage(MainWindow::Page::Compare);
        waitFor(
            [this] {
                RunData* curves = m_window->comparePage()->curves();
                return m_session.runs()->rowCount() < 2 || curves->measured();
            },
            kPredictMs);
        photograph("compare", MainWindow::Page::Compare, true);
        photograph("settings", MainWindow::Page::Settings, true);
        m_window->helpOverlay()->popUp();
        photograph("help", MainWindow::Page::Settings, true);
        m_window->helpOverlay()->hide();
        // Within the window: a popup would want a display that can raise it.
        m_window->commandPalette()->setWindowFlags(Qt::Widget);
        m_window->commandPalette()->popUp();
        m_window->commandPalette()->raise();
        settle();
        save(m_window->grab(), "palette");
        m_window->commandPalette()->hide();
    }

    /// The other tabs of What-if, and the run against its prediction.
    void photographTabs() {
        using Tab = WhatIfPanel::Tab;
        WhatIfPanel* panel = m_window->resultsPage()->whatIfPanel();
        panel->showTab(Tab::TradeOff);
        if (panel->tradeOff()->chart()->front().empty())
            panel->tradeOff()->search();
        waitFor([this] { return !m_session.tune()->isRunning(); }, kPredictMs);
        photograph("trade-off", MainWindow::Page::Results, true);
        panel->showTab(Tab::Plan);
        photograph("plan-card", MainWindow::Page::Results, true);
        panel->showTab(Tab::Policies);
        waitFor([this] { return m_session.policies()->isCurrent(); }, kPredictMs);
        m_window->resultsPage()->showComparison();
        photograph("policies", MainWindow::Page::Results, true);
        panel->showTab(Tab::Settings);
        m_window->resultsPage()->showTranscript();
    }

    /// Planning without a run: a model that streams, and one that cannot.
    void photographPlans() {
        planSomething();
        changeSettings("--budget", "300MiB");
        photograph("plan", MainWindow::Page::Results, true);
        changeSettings("--budget", "24MiB");
        photograph("plan-infeasible", MainWindow::Page::Results, true);
    }

    void changeSettings(const char* flag, const char* value) {
        plan::RunConfig config = m_session.whatIf()->config();
        if (plan::setKnob(config, flag, value))
            m_session.whatIf()->setConfig(config);
    }

    void placeCursor() {
        RunData* data = m_window->resultsPage()->data();
        const TimeRange run = data->time()->run();
        data->time()->setCursor(base::Nanos(run.begin.value + run.span().value * 3 / 5));
    }

    void photograph(const char* name, MainWindow::Page page, bool wanted) {
        if (!wanted)
            return;
        m_window->showPage(page);
        settle();
        save(m_window->grab(), name);
    }

    void save(const QPixmap& picture, const char* name) {
        const QString path =
            QDir(m_options.snapshotDir)
                .filePath(QLatin1String(name) + QLatin1String(m_suffix) + QStringLiteral(".png"));
        if (!picture.save(path, "PNG") && m_failed.isEmpty())
            m_failed = path;
    }

    static int complain(const QString& path) {
        std::fprintf(
            stderr, "%s: the picture cannot be written; choose another folder\n", qPrintable(path));
        return static_cast<int>(base::ErrorCode::Failed);
    }

    const app::WindowOptions& m_options;
    Session m_session;
    UiSettings m_settings;
    std::unique_ptr<MainWindow> m_window;
    const char* m_suffix = "";
    QString m_failed;
};

} // namespace

int takeSnapshots(const app::WindowOptions& options) {
    QLocale::setDefault(QLocale::c());
    return Photographer(options).work();
}

} // namespace shardscope::ui
