// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QtTest>

#include "app/replay/knob_sweep.h"
#include "app/replay/tune_job.h"
#include "tests/integration/sample_stream.h"

using namespace shardscope;
using app::JobRunner;
using app::TuneJob;

class TestTuneJob : public QObject {
    Q_OBJECT

    static analyze::TuneQuestion question(int mebibytes) {
        analyze::TuneQuestion q;
        q.start.budget = base::mebibytes(mebibytes);
        return q;
    }

private slots:
    void theFrontGrowsAndIsExplainedInTheEnd() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        TuneJob tune(&jobs);
        QSignalSpy fronts(&tune, &TuneJob::frontChanged);
        QSignalSpy finished(&tune, &TuneJob::finished);
        double last = 0;
        connect(&tune, &TuneJob::progressChanged, this, [&](double share) {
            QVERIFY(share >= last && share <= 1);
            last = share;
        });
        tune.start(stream.card, stream.board, question(40), {8, 1});
        QVERIFY(tune.isRunning());
        QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 120000);
        QVERIFY(!tune.isRunning());
        QVERIFY(tune.result().complete);
        QVERIFY(!tune.result().front.empty());
        QVERIFY(!tune.result().front.front().why.empty());
        QVERIFY(fronts.count() >= 2); // it was emptied, and it was filled
        QCOMPARE(tune.progress(), 1.0);
    }

    void cancelledKeepsWhatItHasAndSaysItOnce() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        TuneJob tune(&jobs);
        QSignalSpy finished(&tune, &TuneJob::finished);
        tune.start(stream.card, stream.board, question(40), {64, 1});
        QTRY_VERIFY_WITH_TIMEOUT(!tune.result().front.empty(), 120000);
        const bool wasRunning = tune.isRunning();
        tune.cancel();
        QVERIFY(!tune.isRunning());
        QVERIFY(!tune.result().front.empty());
        QVERIFY(!wasRunning || !tune.result().complete);
        tune.cancel();
        QCOMPARE(finished.count(), 1);
    }

    void aNewSearchReplacesTheOld() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        TuneJob tune(&jobs);
        QSignalSpy finished(&tune, &TuneJob::finished);
        tune.start(stream.card, stream.board, question(60), {64, 1});
        tune.start(stream.card, stream.board, question(40), {8, 1});
        QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 120000);
        for (const analyze::TunePoint& point : tune.result().front)
            QVERIFY(point.figures.peak <= base::mebibytes(40));
        QVERIFY(!jobs.isRunning(QStringLiteral("tune")));
    }

    void aSweepTellsWhatAValueCosts() {
        const auto stream = testing::sampleStream();
        plan::RunConfig config;
        config.pin.kind = plan::PinChoice::Kind::None;
        const auto sweep = app::sweepKnob(
            stream.card, stream.board, config, *plan::findKnob("--decoder-shard"),
            {"tensor", "sublayer", "1", "2", "3"}, {8, 1});
        QVERIFY2(sweep.ok(), sweep ? "" : sweep.error().line().c_str());
        QCOMPARE(sweep->rows.size(), std::size_t(5));
        for (std::size_t i = 1; i < sweep->rows.size(); ++i) {
            QVERIFY(sweep->rows[i].peak >= sweep->rows[i - 1].peak);
            QVERIFY(sweep->rows[i].loads < sweep->rows[i - 1].loads); // fewer switches
        }
        const QByteArray csv = QByteArray::fromStdString(app::sweepCsv(*sweep));
        QCOMPARE(csv.count('\n'), 6);
        for (const QByteArray& line : csv.trimmed().split('\n'))
            QCOMPARE(line.count(','), 10);
        const QByteArray svg = QByteArray::fromStdString(app::sweepSvg(*sweep));
        QVERIFY(svg.startsWith("<svg") && svg.endsWith("</svg>\n"));
        for (const char* word : {"Peak memory", "MiB", "shards loaded for a token", "sublayer"})
            QVERIFY2(svg.contains(word), word);
    }

    void aValueThatDoesNotFitIsARowAndAWrongOneAnError() {
        const auto stream = testing::sampleStream();
        plan::RunConfig config;
        const plan::Knob& budget = *plan::findKnob("--budget");
        const auto sweep =
            app::sweepKnob(stream.card, stream.board, config, budget, {"1MiB", "200MiB"}, {4, 1});
        QVERIFY(sweep.ok());
        QVERIFY(!sweep->rows[0].feasible && sweep->rows[0].peak > base::mebibytes(1));
        QVERIFY(sweep->rows[1].feasible);
        QVERIFY(app::sweepSvg(*sweep).find("does not fit") != std::string::npos);
        const auto wrong =
            app::sweepKnob(stream.card, stream.board, config, budget, {"much"}, {4, 1});
        QVERIFY(!wrong.ok());
    }
};

QTEST_GUILESS_MAIN(TestTuneJob)
#include "tst_tune_job.moc"
