// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QtTest>

#include "app/replay/run_document.h"
#include "app/replay/what_if.h"
#include "tests/integration/sample_stream.h"

using namespace shardscope;
using app::JobRunner;
using app::RunDocument;
using app::WhatIf;

class TestWhatIf : public QObject {
    Q_OBJECT

    static void feed(RunDocument& document, const std::string& bytes) {
        trace::FrameReader reader;
        reader.push(bytes);
        while (const auto frame = reader.next())
            document.addFrame(*frame);
    }

private slots:
    void predictsTheMeasuredRunAsItsBaseline() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        RunDocument document;
        WhatIf whatIf(&jobs);
        whatIf.setDocument(&document);
        QVERIFY(!whatIf.isReady());
        document.beginLive();
        feed(document, stream.whole());
        document.endLive();
        QTRY_VERIFY(whatIf.predicted() && whatIf.isCurrent());
        QCOMPARE(whatIf.workload().tokens, 4);
        QVERIFY(!whatIf.isChanged());
        // The document is itself a simulation on this board, and its times are learnt from it.
        const double exact = stream.summary.totalMs;
        QVERIFY(!whatIf.board().measured.empty());
        QVERIFY(std::abs(whatIf.baselineSummary().totalMs - exact) < 0.03 * exact);
        QCOMPARE(whatIf.measuredSummary().totalMs, exact);
        QCOMPARE(whatIf.predicted()->events.size(), stream.trace.events.size());
    }

    void theLastPredictionShownIsThatOfTheLastConfig() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        WhatIf whatIf(&jobs);
        whatIf.setPlanning(stream.card, stream.board, stream.plan->config, {4, 1});
        plan::RunConfig config = stream.plan->config;
        for (int mebibytes = 49; mebibytes <= 70; ++mebibytes) {
            config.budget = base::mebibytes(mebibytes);
            whatIf.setConfig(config);
            QCoreApplication::processEvents();
        }
        QTRY_VERIFY(whatIf.isCurrent());
        QVERIFY(whatIf.prediction().config == config);
        QVERIFY(whatIf.baselinePrediction().config == stream.plan->config);
        QVERIFY(whatIf.predictedSummary().bytesRead < whatIf.baselineSummary().bytesRead);
    }

    void resultsForAnotherRunAreDropped() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        WhatIf whatIf(&jobs);
        whatIf.setPlanning(stream.card, stream.board, stream.plan->config, {400, 4});
        QSignalSpy begun(&jobs, &JobRunner::started);
        QTRY_COMPARE(begun.count(), 1); // it is at work
        whatIf.setDocument(nullptr);
        QSignalSpy changed(&whatIf, &WhatIf::predictionChanged);
        jobs.start(
            QStringLiteral("fence"), [](app::JobControl&) -> JobRunner::Deliver { return [] {}; });
        QTRY_VERIFY(!jobs.isRunning(QStringLiteral("fence")));
        QVERIFY(!whatIf.predicted());
        QCOMPARE(changed.count(), 0);
    }

    void saysWhatWouldFit() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        WhatIf whatIf(&jobs);
        plan::RunConfig small = stream.plan->config;
        small.budget = base::mebibytes(2);
        whatIf.setPlanning(stream.card, stream.board, small, {4, 1});
        QTRY_VERIFY(whatIf.isCurrent());
        QVERIFY(!whatIf.predicted());
        QVERIFY(whatIf.infeasible().has_value());
        QVERIFY(whatIf.infeasible()->needed > whatIf.infeasible()->allowed);
    }

    void resetReturnsToTheBaseline() {
        const auto stream = testing::sampleStream();
        JobRunner jobs;
        WhatIf whatIf(&jobs);
        whatIf.setPlanning(stream.card, stream.board, stream.plan->config, {4, 1});
        plan::RunConfig other = stream.plan->config;
        other.slotCount = 1;
        whatIf.setConfig(other);
        QVERIFY(whatIf.isChanged());
        whatIf.reset();
        QVERIFY(!whatIf.isChanged());
        QTRY_VERIFY(whatIf.isCurrent());
        QCOMPARE(whatIf.predictedSummary().totalMs, whatIf.baselineSummary().totalMs);
    }
};

QTEST_GUILESS_MAIN(TestWhatIf)
#include "tst_what_if.moc"
