// SPDX-License-Identifier: GPL-3.0-or-later
// The window with the real agent: the sample, live, from the button to the store.
#include <QAction>
#include <QApplication>
#include <QTemporaryDir>
#include <QTest>

#include "ui/pages/results_page.h"
#include "ui/shell/main_window.h"

using namespace shardscope;
using namespace shardscope::ui;
using app::RunState;

namespace {

constexpr int kRunMs = 120'000;

} // namespace

class LiveRunTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        qputenv("SHARDSCOPE_AGENT", PROGRAMS_DIR "/shardscope-agent");
        qputenv("SHARDSCOPE_RESOURCES", RESOURCES_DIR);
        applyChrome(*qobject_cast<QApplication*>(qApp), ThemeChoice::Light, 10);
    }
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".*"))); }

    void sampleRunsLiveUnderItsPredictionAndIsKept() {
        QTemporaryDir folder;
        UiSettings settings(false);
        Session session(app::DataPaths{folder.path()});
        MainWindow window(&session, &settings);
        window.show();
        window.actions().action("run.sample")->trigger();
        QCOMPARE(window.page(), MainWindow::Page::Results);
        QCOMPARE(session.document()->state(), RunState::Running);
        QVERIFY(window.actions().action("run.stop")->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(session.document()->tokens() > 0, kRunMs);
        QTRY_VERIFY_WITH_TIMEOUT(!session.controller()->isRunning(), kRunMs);
        QCOMPARE(session.document()->errorLine(), QString());
        QCOMPARE(session.document()->state(), RunState::Done);
        QVERIFY(!session.document()->transcript().isEmpty());
        QTRY_VERIFY(session.whatIf()->isCurrent());
        QVERIFY(window.resultsPage()->data()->predicted());
        QCOMPARE(session.runs()->rowCount(), 1);
        QTRY_VERIFY(!session.runs()->runs().front().thumbnail.isEmpty());
        QVERIFY(session.canRun());
    }

    void closingDuringARunKeepsWhatWasRecorded() {
        QTemporaryDir folder;
        {
            UiSettings settings(false);
            Session session(app::DataPaths{folder.path()});
            MainWindow window(&session, &settings);
            window.show();
            session.runSample();
            QTRY_VERIFY_WITH_TIMEOUT(!session.document()->trace().events.empty(), kRunMs);
            QVERIFY(session.controller()->isRunning());
        }
        Session again(app::DataPaths{folder.path()});
        QCOMPARE(again.runs()->rowCount(), 1);
        QVERIFY(again.runs()->runs().front().state != RunState::Running);
        again.openRun(again.runs()->runs().front().uuid);
        QTRY_VERIFY(!again.document()->trace().events.empty());
    }

    void stopKeepsWhatWasRecorded() {
        QTemporaryDir folder;
        UiSettings settings(false);
        Session session(app::DataPaths{folder.path()});
        MainWindow window(&session, &settings);
        session.runSample();
        QTRY_VERIFY_WITH_TIMEOUT(session.document()->trace().events.size() > 50, kRunMs);
        window.actions().action("run.stop")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!session.controller()->isRunning(), kRunMs);
        QVERIFY(
            session.document()->state() == RunState::Stopped ||
            session.document()->state() == RunState::Partial);
        QCOMPARE(session.runs()->rowCount(), 1);
    }
};

QTEST_MAIN(LiveRunTest)
#include "tst_live_run.moc"
