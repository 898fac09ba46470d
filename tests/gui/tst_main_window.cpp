// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QImage>
#include <QLineEdit>
#include <QSet>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/remote/board_source.h"
#include "ui/kit/parts.h"
#include "ui/pages/runs_panel.h"
#include "ui/pages/start_page.h"
#include "ui/plot/time_plot.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/help_overlay.h"
#include "ui/shell/snapshot.h"
#include "window_fixture.h"

using namespace shardscope;
using namespace shardscope::ui;
using Page = MainWindow::Page;

namespace {

constexpr base::Bytes kBudget = base::mebibytes(60);

using Fixture = tests::WindowFixture;

} // namespace

class MainWindowTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        // The offscreen platform says so whenever a popup opens.
        QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not)")));
        applyChrome(*qobject_cast<QApplication*>(qApp), ThemeChoice::Light, 10);
    }

    void opensOnTheStartPageWithoutRuns() {
        Fixture f;
        QCOMPARE(f.window.page(), Page::Start);
        QVERIFY(f.window.findChild<QFrame*>(QStringLiteral("start.empty"))->isVisible());
        QVERIFY(f.session.storeError().isEmpty());
    }

    void eachCommandHasItsOwnNameAndKeys() {
        QSet<QString> ids, keys;
        for (const Command& command : commands()) {
            QVERIFY2(!ids.contains(QLatin1String(command.id)), command.id);
            ids.insert(QLatin1String(command.id));
            QVERIFY2(*command.text && *command.help, command.id);
            const QString shortcut = QLatin1String(command.shortcut);
            QVERIFY2(shortcut.isEmpty() || !keys.contains(shortcut), command.id);
            keys.insert(shortcut);
        }
    }

    void railAndKeysChangeThePage() {
        Fixture f;
        QTest::mouseClick(
            f.window.findChild<QToolButton*>(QStringLiteral("rail.go.boards")), Qt::LeftButton);
        QCOMPARE(f.window.page(), Page::Boards);
        f.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.window));
        QTest::keyClick(&f.window, Qt::Key_5, Qt::AltModifier);
        QCOMPARE(f.window.page(), Page::Settings);
    }

    void paletteRunsTheCommandThatIsTyped() {
        Fixture f;
        f.window.actions().action("help.palette")->trigger();
        CommandPalette* palette = f.window.commandPalette();
        QVERIFY(palette->isVisible());
        auto* text = palette->findChild<QLineEdit*>(QStringLiteral("palette.text"));
        QTest::keyClicks(text, QStringLiteral("dark theme"));
        QTest::keyClick(text, Qt::Key_Return);
        QTRY_COMPARE(f.settings.theme(), ThemeChoice::Dark);
        QVERIFY(!palette->isVisible());
        QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 128);
    }

    void helpClosesWithAnyKey() {
        Fixture f;
        f.window.actions().action("help.keys")->trigger();
        QVERIFY(f.window.helpOverlay()->isVisible());
        QTest::keyClick(f.window.helpOverlay(), Qt::Key_Escape);
        QVERIFY(!f.window.helpOverlay()->isVisible());
    }

    void whatIfSliderChangesThePrediction() {
        Fixture f;
        f.planTiny();
        app::WhatIf* whatIf = f.session.whatIf();
        const auto free = whatIf->prediction().summary;
        QSlider* budget = f.slider("budget_bytes");
        QCOMPARE(budget->value(), budget->maximum()); // none
        budget->setValue(budget->maximum() / 2);
        QTRY_VERIFY(whatIf->isCurrent());
        QVERIFY(whatIf->config().budget.has_value());
        QVERIFY(whatIf->prediction().plan);
        QVERIFY(whatIf->prediction().plan->peak <= *whatIf->config().budget);
        QVERIFY(whatIf->prediction().summary.decodeMsPerToken > free.decodeMsPerToken);
        QCOMPARE(f.window.resultsPage()->data()->predicted(), whatIf->predicted().get());
        f.window.actions().action("whatif.reset")->trigger();
        QVERIFY(!whatIf->isChanged());
    }

    void eachSliderReachesBothItsEnds() {
        Fixture f;
        f.planTiny();
        app::WhatIf* whatIf = f.session.whatIf();
        for (const char* key :
             {"decoder_shard", "encoder_shard", "slots", "pin", "threads", "emulate_read",
              "budget_bytes"}) {
            QSlider* slider = f.slider(key);
            const auto* control = qobject_cast<SliderKnob*>(f.panel()->control(key));
            for (const int end : {slider->minimum(), slider->maximum()}) {
                slider->setValue(end == slider->value() ? slider->maximum() - end : end);
                slider->setValue(end);
                const std::string shown = control->knob().print(whatIf->config());
                QCOMPARE(shown, control->stops()[std::size_t(end)]);
            }
            whatIf->reset();
        }
    }

    void settingsThatDoNotFitSayWhatWould() {
        Fixture f;
        f.planTiny();
        QSlider* budget = f.slider("budget_bytes");
        budget->setValue(budget->minimum());
        QTRY_VERIFY(f.session.whatIf()->infeasible().has_value());
        QTRY_VERIFY(f.window.findChild<QWidget*>(QStringLiteral("whatif.infeasible"))->isVisible());
        f.panel()->useNearest();
        QTRY_VERIFY(f.session.whatIf()->isCurrent());
        QVERIFY(f.session.whatIf()->prediction().plan);
        QVERIFY(!f.session.whatIf()->infeasible());
    }

    void aBuiltInCardIsPlannedButNotRun() {
        Fixture f;
        f.planTiny();
        QString why;
        QVERIFY(!f.session.canRun(&why));
        QVERIFY(why.contains(QStringLiteral("no weights")));
        QVERIFY(!f.window.actions().action("run.start")->isEnabled());
    }

    void aLiveRunFillsThePage() {
        Fixture f;
        tests::playRun(*f.session.document(), tests::framesOfRun(kBudget));
        QCOMPARE(f.session.document()->state(), app::RunState::Done);
        RunData* data = f.window.resultsPage()->data();
        QCOMPARE(data->measured(), &f.session.document()->trace());
        auto* text = f.window.findChild<QWidget*>(QStringLiteral("results.transcript"));
        QCOMPARE(text->property("plainText").toString(), QStringLiteral("hello there"));
        QVERIFY(!f.session.playback()->isEmpty());
        f.session.playback()->step(1);
        QCOMPARE(*data->time()->cursor(), f.session.playback()->position());
    }

    void escapeOverAChartAsksToStopALiveRun() {
        Fixture f;
        f.session.document()->beginLive();
        f.window.showPage(Page::Results);
        f.window.resultsPage()->disconnect(SIGNAL(stopAsked())); // the question would wait for us
        QSignalSpy asked(f.window.resultsPage(), &ResultsPage::stopAsked);
        QTest::keyClick(f.find<TimePlot>("plot.ram"), Qt::Key_Escape);
        QCOMPARE(asked.size(), 1);
    }

    void aKeptRunOpensAndIsDeletedWithUndo() {
        Fixture f;
        const QString uuid = f.keepRun();
        QVERIFY(!uuid.isEmpty());
        QCOMPARE(f.session.runs()->rowCount(), 1);
        f.session.openRun(uuid);
        QTRY_COMPARE(f.session.document()->uuid(), uuid);
        QCOMPARE(f.window.page(), Page::Results);
        f.session.deleteRun(uuid);
        QCOMPARE(f.session.runs()->rowCount(), 0);
        f.window.actions().action("runs.undo_delete")->trigger();
        QCOMPARE(f.session.runs()->rowCount(), 1);
        f.session.deleteRun(uuid);
        f.session.purge();
        QVERIFY(!f.session.store()->run(uuid));
    }

    void aFileThatIsNoRunIsToldOnThePage() {
        Fixture f;
        QFile file(f.folder.filePath(QStringLiteral("bad.sst")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("no frames here");
        file.close();
        f.session.openFile(file.fileName());
        auto* start = f.window.findChild<StartPage*>();
        QTRY_VERIFY(start->banner()->text().contains(QStringLiteral("bad.sst")));
        QVERIFY(start->banner()->isVisible());
        QCOMPARE(f.session.document()->state(), app::RunState::Empty);
    }

    void layoutIsRestoredAndReset() {
        Fixture f;
        f.window.showPage(Page::Results);
        ResultsPage* page = f.window.resultsPage();
        page->runsDock()->hide();
        const QByteArray state = page->layoutState();
        page->restoreDefaultLayout();
        QVERIFY(!page->runsDock()->isHidden());
        page->restoreLayout(state);
        QVERIFY(page->runsDock()->isHidden());
        page->restoreLayout("damaged");
        QVERIFY(!page->runsDock()->isHidden());
    }

    void snapshotDrawsEveryPage() {
        QTemporaryDir home, pictures;
        app::WindowOptions options;
        options.paths.root = home.path();
        options.snapshotDir = pictures.path();
        QCOMPARE(takeSnapshots(options), 0);
        const QStringList names = QDir(pictures.path()).entryList({QStringLiteral("*.png")});
        for (const char* page :
             {"start", "boards", "results", "what-if", "infeasible", "compare", "settings", "plan",
              "plan-infeasible"})
            for (const char* theme : {".png", "-dark.png"})
                QVERIFY2(names.contains(QLatin1String(page) + QLatin1String(theme)), page);
        for (const QString& name : names)
            QCOMPARE(QImage(pictures.filePath(name)).size(), QSize(1440, 900));
    }
};

QTEST_MAIN(MainWindowTest)
#include "tst_main_window.moc"
