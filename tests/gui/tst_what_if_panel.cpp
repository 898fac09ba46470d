// SPDX-License-Identifier: GPL-3.0-or-later
// The What-if dock under hands: every knob, the trade-off, policies, the plan in words, undo.
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTreeWidget>

#include "ui/pages/figure_tile.h"
#include "ui/pages/plan_card.h"
#include "ui/pages/policy_table.h"
#include "ui/pages/prediction_panel.h"
#include "ui/pages/trade_off_panel.h"
#include "ui/plot/pareto_chart.h"
#include "window_fixture.h"

using namespace shardscope;
using namespace shardscope::ui;
using tests::WindowFixture;

namespace {

constexpr int kSearchMs = 60'000;

QPoint placeOf(const ParetoChart* chart, std::size_t index) {
    return chart->placeOf(chart->front()[index]).toPoint();
}

} // namespace

class WhatIfPanelTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        // The offscreen platform says so whenever a popup opens.
        QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not)")));
        applyChrome(*qobject_cast<QApplication*>(qApp), ThemeChoice::Light, 10);
    }

    void everyKnobHasAControlThatCanBeReachedByKeys() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        for (const plan::Knob& knob : plan::knobs()) {
            KnobControl* control = f.panel()->control(knob.key);
            QVERIFY2(control, knob.key.data());
            auto* slider = control->findChild<QSlider*>();
            auto* combo = control->findChild<QComboBox*>();
            QVERIFY2(slider || combo, knob.key.data());
            QWidget* input = slider ? static_cast<QWidget*>(slider) : combo;
            QVERIFY2(input->focusPolicy() & Qt::TabFocus, knob.key.data());
            QVERIFY2(!input->accessibleName().isEmpty(), knob.key.data());
        }
    }

    void arrowKeysMoveAKnobAndItsFigures() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        QSlider* batch = f.slider("batch");
        batch->setFocus();
        QTest::keyClick(batch, Qt::Key_Right);
        QCOMPARE(f.whatIf()->config().batch, 2);
        QTRY_VERIFY(f.whatIf()->isCurrent());
        QCOMPARE(f.whatIf()->prediction().config.batch, 2);
    }

    void withoutValidationTheDockSaysHowToGetIt() {
        WindowFixture f;
        f.planTiny();
        auto* hint = f.find<QLabel>("whatif.errorHint");
        QVERIFY(hint->text().contains(QStringLiteral("shardscope validate --board v851s")));
        PredictionErrors errors;
        errors.runs = 40;
        errors.figures[QStringLiteral("decode_ms_per_token")] = {0.04, 0.11};
        f.panel()->setErrors(errors);
        QVERIFY(!hint->text().contains(QStringLiteral("No validation yet")));
        const auto labels = f.panel()->findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* l) {
            return l->text() == QStringLiteral("\u00b1 4 %");
        }));
    }

    void policiesAreComparedAndAClickTakesOne() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        f.slider("budget_bytes")->setValue(f.slider("budget_bytes")->maximum() / 2);
        f.panel()->showTab(WhatIfPanel::Tab::Policies);
        QTreeWidget* list = f.panel()->policies()->list();
        QTRY_COMPARE(list->topLevelItemCount(), 5);
        QTRY_VERIFY(f.session.policies()->isCurrent());
        const auto& costs = f.session.policies()->costs();
        QVERIFY(costs[1].plan && costs[0].plan);
        // On a cycle that does not fit, LRU never hits.
        QVERIFY(costs[1].plan->streamedPerToken > costs[0].plan->streamedPerToken);
        QTest::mouseClick(
            list->viewport(), Qt::LeftButton, {},
            list->visualItemRect(list->topLevelItem(1)).center());
        QCOMPARE(f.whatIf()->config().policy, plan::Policy::Lru);
        QTRY_VERIFY(f.session.policies()->isCurrent());
        QCOMPARE(list->topLevelItem(1)->text(3), QStringLiteral("chosen"));
    }

    void nobodyComparesPoliciesWhileTheyAreHidden() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        QSignalSpy spy(f.session.policies(), &app::PolicyCosts::costsChanged);
        f.slider("slots")->setValue(3);
        QTRY_VERIFY(f.whatIf()->isCurrent());
        QTest::qWait(300);
        QCOMPARE(spy.size(), 0);
    }

    void thePlanIsToldWithItsHashAndReasons() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        f.slider("budget_bytes")->setValue(f.slider("budget_bytes")->maximum() / 2);
        f.panel()->showTab(WhatIfPanel::Tab::Plan);
        QTRY_VERIFY(f.whatIf()->isCurrent());
        const QString hash = QString::fromStdString(f.whatIf()->prediction().plan->hashText());
        QTRY_VERIFY(f.panel()->planCard()->toPlainText().contains(hash));
        const QString text = f.panel()->planCard()->toPlainText();
        QVERIFY(text.contains(QStringLiteral("whisper-tiny.en")));
        QVERIFY(text.contains(QStringLiteral("--budget")));
        QVERIFY(text.contains(QStringLiteral("does not fit beside what is pinned")));
        // Every shard that is loaded is told.
        for (const plan::Shard& shard : f.whatIf()->prediction().plan->shards)
            if (shard.key.stack != model::ShardKey::Stack::Rows)
                QVERIFY2(text.contains(QString::fromStdString(shard.name)), shard.name.c_str());
    }

    void theSearchFillsTheChartAndAPointSetsTheKnobs() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        f.panel()->showTab(WhatIfPanel::Tab::TradeOff);
        auto* search = f.find<QPushButton>("whatif.search");
        QTest::mouseClick(search, Qt::LeftButton);
        QVERIFY(f.session.tune()->isRunning());
        QTRY_VERIFY_WITH_TIMEOUT(!f.session.tune()->isRunning(), kSearchMs);
        ParetoChart* chart = f.panel()->tradeOff()->chart();
        const auto& front = f.session.tune()->result().front;
        QVERIFY(front.size() >= 2);
        QCOMPARE(chart->front().size(), front.size());
        for (std::size_t i = 1; i < chart->front().size(); ++i) {
            QVERIFY(chart->front()[i].bytes > chart->front()[i - 1].bytes);
            QVERIFY(chart->front()[i].ms < chart->front()[i - 1].ms);
        }
        const std::size_t last = front.size() - 1;
        QTest::mouseClick(chart, Qt::LeftButton, {}, placeOf(chart, last));
        QCOMPARE(f.whatIf()->config(), front[last].config);
        QTRY_VERIFY(f.whatIf()->isCurrent());
        QCOMPARE(f.whatIf()->prediction().plan->peak, front[last].figures.peak);
        // The keys do the same.
        chart->setFocus();
        while (chart->marked() != 0)
            QTest::keyClick(chart, Qt::Key_Left);
        QTest::keyClick(chart, Qt::Key_Return);
        QCOMPARE(f.whatIf()->config(), front[0].config);
        QVERIFY(!f.find<QLabel>("whatif.point")->text().isEmpty());
    }

    void aSearchCanBeStopped() {
        WindowFixture f;
        f.session.plan(QStringLiteral("card:whisper-small"), tests::smallBoard());
        f.window.showPage(MainWindow::Page::Results);
        f.panel()->showTab(WhatIfPanel::Tab::TradeOff);
        auto* search = f.find<QPushButton>("whatif.search");
        QTest::mouseClick(search, Qt::LeftButton);
        QVERIFY(f.session.tune()->isRunning());
        QTest::mouseClick(search, Qt::LeftButton);
        QTRY_VERIFY(!f.session.tune()->isRunning());
        QCOMPARE(search->text(), QStringLiteral("Find best settings"));
    }

    void undoTakesBackADragAsOneStep() {
        WindowFixture f;
        f.planTiny();
        f.window.showPage(MainWindow::Page::Results);
        const plan::RunConfig before = f.whatIf()->config();
        QSlider* budget = f.slider("budget_bytes");
        for (int i = 1; i <= 10; ++i)
            budget->setValue(budget->maximum() - i);
        const plan::RunConfig dragged = f.whatIf()->config();
        QVERIFY(before != dragged);
        QAction* undo = f.window.actions().action("edit.undo");
        QVERIFY(undo->isEnabled());
        undo->trigger();
        QCOMPARE(f.whatIf()->config(), before);
        QVERIFY(!undo->isEnabled());
        f.window.actions().action("edit.redo")->trigger();
        QCOMPARE(f.whatIf()->config(), dragged);
    }

    void theBoardOfWhatIfIsWhereARunGoes() {
        WindowFixture f;
        QVERIFY(!f.openKeptRun().isEmpty());
        auto* run = f.find<QPushButton>("whatif.run");
        // The kept run is one of a preset: here it can only be emulated.
        QCOMPARE(f.session.runBoard(), QStringLiteral("emulated:v851s-512m-nand"));
        QVERIFY(run->text().contains(QStringLiteral("emulated")));
        plan::BoardProfile own = tests::smallBoard();
        own.name = "local";
        f.whatIf()->setBoard(own);
        QCOMPARE(f.session.runBoard(), QStringLiteral("local"));
        QCOMPARE(run->text(), QStringLiteral("Run on this machine"));
    }

    void aRunIsHeldAgainstItsPredictionAndPhysics() {
        WindowFixture f;
        QVERIFY(!f.openKeptRun().isEmpty());
        f.results()->showComparison();
        PredictionModel* model = f.results()->predictionPanel()->model();
        QTRY_VERIFY(model->rowCount() >= 7);
        // The kept run is itself a simulation: phase by phase the prediction is exact.
        for (int row = 0; row < 5; ++row) {
            const auto cell = [&](PredictionModel::Column column) {
                return model->index(row, column).data().toString();
            };
            QCOMPARE(cell(PredictionModel::Predicted), cell(PredictionModel::Measured));
            QVERIFY(cell(PredictionModel::OffBy).contains(QStringLiteral("0.0 %")));
            QVERIFY(cell(PredictionModel::BoundBy).endsWith(QStringLiteral("bound")));
        }
        auto* badge = f.find<QLabel>("results.boundBadge");
        QVERIFY(badge->isVisible());
        QVERIFY(badge->text().contains(QStringLiteral("bound")));
        // A slider changes what would be, not what was.
        const QString text = badge->text();
        f.slider("slots")->setValue(0);
        QTRY_VERIFY(f.whatIf()->isCurrent());
        QCOMPARE(badge->text(), text);
    }
};

QTEST_MAIN(WhatIfPanelTest)
#include "tst_what_if_panel.moc"
