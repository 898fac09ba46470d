// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QTest>

#include "sim_engine/plan/knobs.h"
#include "ui/models/compare_model.h"
#include "ui/models/figures.h"
#include "ui/models/runs_model.h"

using namespace shardscope;
using namespace shardscope::ui;

namespace {

app::RunRecord runOf(const QString& uuid, const QString& model, double msPerToken) {
    app::RunRecord run;
    run.uuid = uuid;
    run.model = model;
    run.board = QStringLiteral("local");
    run.started = QDateTime::currentDateTimeUtc();
    run.state = app::RunState::Done;
    run.peakBytes = 18 << 20;
    run.msPerToken = msPerToken;
    run.config = plan::toJson(plan::RunConfig());
    run.result = {
        {"timing", {{"decode_ms_per_token", msPerToken}, {"total_ms", 10 * msPerToken}}},
        {"memory", {{"arena_peak_bytes", 18 << 20}}},
        {"io", {{"hidden_fraction", 0.5}}}};
    return run;
}

} // namespace

class RunModelsTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".*"))); }

    void filterKeepsRunsWithEveryWord() {
        RunsModel runs;
        RunsFilter filter;
        QAbstractItemModelTester tester(
            &runs, QAbstractItemModelTester::FailureReportingMode::QtTest);
        filter.setSourceModel(&runs);
        app::RunRecord starred = runOf(QStringLiteral("b"), QStringLiteral("tiny.en.bin"), 20);
        starred.starred = true;
        runs.setRuns(
            {runOf(QStringLiteral("a"), QStringLiteral("/models/base.en.bin"), 10), starred});
        QCOMPARE(filter.rowCount(), 2);
        filter.setText(QStringLiteral("local tiny"));
        QCOMPARE(filter.rowCount(), 1);
        filter.setText({});
        filter.setStarredOnly(true);
        QCOMPARE(filter.rowCount(), 1);
        QCOMPARE(filter.index(0, 0).data().toString(), QStringLiteral("tiny.en"));
        QCOMPARE(runs.index(0, 0).data().toString(), QStringLiteral("base.en"));
        QVERIFY(runs.find(QStringLiteral("a")) && !runs.find(QStringLiteral("c")));
    }

    void comparesFiguresAndSettings() {
        const app::RunRecord first = runOf(QStringLiteral("a"), QStringLiteral("m.bin"), 20);
        app::RunRecord second = runOf(QStringLiteral("b"), QStringLiteral("m.bin"), 10);
        plan::RunConfig config;
        config.slotCount = 1;
        second.config = plan::toJson(config);
        CompareModel model;
        QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setRuns(&first, &second);
        QHash<QString, QString> changes;
        for (int row = 0; row < model.rowCount(); ++row)
            changes[model.index(row, CompareModel::Name).data().toString()] =
                model.index(row, CompareModel::Change).data().toString();
        QCOMPARE(
            changes[QStringLiteral("Per token")], QStringLiteral("\u221210.0 ms  (\u221250 %)"));
        QCOMPARE(changes[QStringLiteral("Peak RAM (arena)")], QStringLiteral("same"));
        QCOMPARE(changes[QStringLiteral("Slots")], QStringLiteral("changed"));
        QVERIFY(!changes.contains(QStringLiteral("Policy")));
    }

    void aRunWithoutResultComparesAsZero() {
        const app::RunRecord first = runOf(QStringLiteral("a"), QStringLiteral("m.bin"), 20);
        app::RunRecord failed = first;
        failed.result = nullptr;
        failed.config = nullptr;
        CompareModel model;
        model.setRuns(&first, &failed);
        QVERIFY(model.rowCount() > 5);
    }

    void figuresSayHowTheyChanged_data() {
        QTest::addColumn<double>("before");
        QTest::addColumn<double>("now");
        QTest::addColumn<QString>("change");
        QTest::addColumn<int>("verdict");
        QTest::newRow("less") << 20.0 << 15.0 << QStringLiteral("\u22125.00 ms  (\u221225 %)")
                              << -1;
        QTest::newRow("more") << 20.0 << 30.0 << QStringLiteral("+10.0 ms  (+50 %)") << 1;
        QTest::newRow("noise") << 20.0 << 20.05 << QString() << 0;
        QTest::newRow("from nothing") << 0.0 << 5.0 << QStringLiteral("+5.00 ms") << 1;
    }

    void figuresSayHowTheyChanged() {
        QFETCH(double, before);
        QFETCH(double, now);
        QFETCH(QString, change);
        QFETCH(int, verdict);
        Figure old, figure;
        old.value = before;
        figure.value = now;
        QCOMPARE(figure.changeFrom(old), change);
        QCOMPARE(figure.verdict(old), verdict);
    }
};

QTEST_MAIN(RunModelsTest)
#include "tst_run_models.moc"
