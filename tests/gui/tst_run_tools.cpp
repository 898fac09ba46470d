// SPDX-License-Identifier: GPL-3.0-or-later
// What people add to runs and take from them: notes on ranges, tags, pictures, curves of two runs.
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeWidget>

#include "ui/pages/compare_page.h"
#include "ui/pages/costs_panel.h"
#include "ui/pages/notes_row.h"
#include "ui/pages/runs_panel.h"
#include "ui/plot/icicle_view.h"
#include "ui/plot/time_plot.h"
#include "window_fixture.h"

using namespace shardscope;
using namespace shardscope::ui;
using tests::WindowFixture;

namespace {

TimeRange middleOf(const TimeRange& run) {
    const base::Nanos third(run.span().value / 3);
    return {run.begin + third, run.end - third};
}

} // namespace

class RunToolsTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not)")));
        applyChrome(*qobject_cast<QApplication*>(qApp), ThemeChoice::Light, 10);
    }

    void aNoteIsWrittenOnTheSelectionAndKept() {
        WindowFixture f;
        const QString uuid = f.openKeptRun();
        QVERIFY(!uuid.isEmpty());
        TimeState* time = f.results()->data()->time();
        const TimeRange range = middleOf(time->run());
        time->setSelection(range);
        f.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.window));
        QTest::keyClick(&f.window, Qt::Key_M);
        auto* line = f.find<QLineEdit>("results.note");
        QTRY_VERIFY(line->isVisible() && line->hasFocus());
        QTest::keyClicks(line, QStringLiteral("my slow load")); // m is a letter here
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(time->notes().size(), 1u);
        QCOMPARE(time->notes()[0].text, QStringLiteral("my slow load"));
        QCOMPARE(time->notes()[0].range, range);
        QCOMPARE(f.session.store()->rangeNotes(uuid)->size(), 1);
        // A click on its chip goes there.
        time->home();
        auto* chip = f.find<QPushButton>("results.noteChip");
        QTest::mouseClick(chip, Qt::LeftButton);
        QVERIFY(!time->showsAll());
        QVERIFY(time->visible().contains(range.begin) && time->visible().contains(range.end));
        f.window.actions().action("edit.undo")->trigger();
        QVERIFY(time->notes().empty());
        QVERIFY(f.session.store()->rangeNotes(uuid)->isEmpty());
        f.window.actions().action("edit.redo")->trigger();
        QCOMPARE(time->notes().size(), 1u);
    }

    void escapeLeavesNoNote() {
        WindowFixture f;
        QVERIFY(!f.openKeptRun().isEmpty());
        TimeState* time = f.results()->data()->time();
        time->setCursor(time->run().begin);
        f.window.actions().action("edit.note")->trigger();
        auto* line = f.find<QLineEdit>("results.note");
        QVERIFY(line->isVisible());
        QTest::keyClicks(line, QStringLiteral("no"));
        QTest::keyClick(line, Qt::Key_Escape);
        QVERIFY(!line->isVisible());
        QVERIFY(time->notes().empty());
    }

    void notesComeBackWithTheirRun() {
        WindowFixture f;
        const QString first = f.keepRun(base::mebibytes(80)), second = f.openKeptRun();
        QVERIFY(f.session.store()
                    ->setRangeNotes(
                        first, {{base::Nanos(1'000), base::Nanos(2'000), QStringLiteral("here")}})
                    .ok());
        TimeState* time = f.results()->data()->time();
        QVERIFY(time->notes().empty());
        f.session.openRun(first);
        QTRY_COMPARE(time->notes().size(), 1u);
        f.session.openRun(second);
        QTRY_VERIFY(time->notes().empty());
    }

    void tagsAreWrittenWithKeysFilteredAndTakenBack() {
        WindowFixture f;
        const QString uuid = f.openKeptRun();
        f.keepRun(base::mebibytes(80));
        auto* list = f.find<QListView>("runs.list");
        f.results()->runsPanel()->select(uuid);
        list->setFocus();
        f.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.window));
        QTest::keyClick(list, Qt::Key_T);
        auto* tags = f.find<QLineEdit>("runs.tags");
        QTRY_VERIFY(tags->isVisible());
        QTest::keyClicks(tags, QStringLiteral("slow flash, board 2"));
        QTest::keyClick(tags, Qt::Key_Return);
        const QStringList wanted = {QStringLiteral("board 2"), QStringLiteral("slow flash")};
        QStringList kept = f.session.runs()->find(uuid)->tags;
        kept.sort();
        QCOMPARE(kept, wanted);
        auto* search = f.find<QLineEdit>("runs.search");
        QTest::keyClicks(search, QStringLiteral("flash"));
        QCOMPARE(list->model()->rowCount(), 1);
        search->clear();
        QCOMPARE(list->model()->rowCount(), 2);
        f.window.actions().action("edit.undo")->trigger();
        QVERIFY(f.session.runs()->find(uuid)->tags.isEmpty());
    }

    void chartsAreExported_data() {
        QTest::addColumn<QString>("end");
        QTest::addColumn<QByteArray>("begins");
        QTest::newRow("png") << QStringLiteral("png") << QByteArray("\x89PNG");
        QTest::newRow("svg") << QStringLiteral("svg") << QByteArray("<?xml");
        QTest::newRow("pdf") << QStringLiteral("pdf") << QByteArray("%PDF");
    }
    void chartsAreExported() {
        QFETCH(QString, end);
        QFETCH(QByteArray, begins);
        WindowFixture f;
        QVERIFY(!f.openKeptRun().isEmpty());
        auto* ram = f.find<TimePlot>("plot.ram");
        for (const bool all : {false, true}) {
            const QString path = f.folder.filePath(QStringLiteral("picture.") + end);
            QVERIFY(all ? f.results()->exportCharts(path) : ram->exportTo(path));
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray bytes = file.readAll();
            QVERIFY(bytes.startsWith(begins));
            QVERIFY(bytes.size() > 2000);
            if (end == QLatin1String("svg")) // words are words in it
                QVERIFY(bytes.contains("pinned weights"));
            if (end == QLatin1String("png"))
                QVERIFY(QImage(path).height() >= (all ? 300 : ram->height()));
        }
        QVERIFY(!ram->exportTo(f.folder.filePath(QStringLiteral("picture.bmp"))));
        QVERIFY(!ram->exportTo(QStringLiteral("/nowhere/picture.") + end));
    }

    void theStateOfTheBoardIsShownWhenAskedFor() {
        WindowFixture f;
        QVERIFY(!f.openKeptRun().isEmpty());
        TimePlot* board = f.results()->boardState();
        QVERIFY(!board->isVisible());
        f.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.window));
        QTest::keyClick(&f.window, Qt::Key_3, Qt::ControlModifier);
        QTRY_VERIFY(board->isVisible());
        // Other charts keep their time axes in line with it.
        auto* ram = f.find<TimePlot>("plot.ram");
        QCOMPARE(board->plotLeft(), ram->plotLeft());
        QCOMPARE(board->plotRight(), ram->plotRight());
        f.window.actions().action("view.restore")->trigger();
        QVERIFY(!board->isVisible());
        QVERIFY(!f.window.actions().action("view.board")->isChecked());
    }

    void theIcicleFollowsTheSelectionAndAClickWidens() {
        WindowFixture f;
        QVERIFY(!f.openKeptRun().isEmpty());
        f.results()->showCosts();
        IcicleView* icicle = f.results()->costsPanel()->icicle();
        QTRY_VERIFY(icicle->tree().ns > 0);
        const std::int64_t whole = icicle->tree().ns;
        auto* list = f.find<QTreeWidget>("costs.list");
        QVERIFY(list->topLevelItemCount() > 5);
        const QRect pass = icicle->rectOf({0});
        QVERIFY(!pass.isEmpty() && pass.width() < icicle->width() - 20);
        QTest::mouseClick(icicle, Qt::LeftButton, {}, pass.center());
        QCOMPARE(icicle->path().size(), 2);
        QVERIFY(icicle->rectOf({0}).width() > pass.width());
        icicle->setFocus();
        QTest::keyClick(icicle, Qt::Key_Backspace);
        QCOMPARE(icicle->path().size(), 1);
        QCOMPARE(icicle->rectOf({0}), pass);
        TimeState* time = f.results()->data()->time();
        time->setSelection(middleOf(time->run()));
        QTRY_VERIFY(icicle->tree().ns < whole);
        time->setSelection(std::nullopt);
        QTRY_COMPARE(icicle->tree().ns, whole);
        auto* by = f.find<QComboBox>("costs.by");
        by->setCurrentIndex(1);
        QVERIFY(icicle->byBytes());
        QVERIFY(list->topLevelItem(0)->text(1).contains(QStringLiteral("iB")));
    }

    void theCurvesOfTwoRunsLieOverEachOther() {
        WindowFixture f;
        const QString a = f.keepRun(base::mebibytes(60)), b = f.keepRun(base::mebibytes(80));
        ComparePage* page = f.window.comparePage();
        QSignalSpy asked(page, &ComparePage::curvesWanted);
        page->compare(a, b);
        QCOMPARE(asked.size(), 0); // nobody looks
        f.window.showPage(MainWindow::Page::Compare);
        QCOMPARE(asked.size(), 1);
        QTRY_VERIFY(page->curves()->measured() && page->curves()->predicted());
        QCOMPARE(page->curves()->measured()->legend.budget, base::mebibytes(60));
        QCOMPARE(page->curves()->predicted()->legend.budget, base::mebibytes(80));
        QVERIFY(f.find<QFrame>("compare.curves")->isVisible());
        QCOMPARE(page->curves()->ghostName(), QStringLiteral("second"));
    }
};

QTEST_MAIN(RunToolsTest)
#include "tst_run_tools.moc"
