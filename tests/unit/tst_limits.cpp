// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "plan_fixtures.h"
#include "sim_engine/analyze/limits.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"

using namespace shardscope;
using analyze::Bound;
using analyze::Limits;
using model::PassKind;

namespace {

struct Case {
    plan::BoardProfile board = test::board();
    plan::RunConfig config;
    plan::Plan plan;
    trace::Trace trace;
    analyze::RunLimits limits;

    explicit Case(
        const char* budget, const std::function<void(plan::BoardProfile&)>& change = {},
        const char* batch = "1") {
        // Rates by kernel and thread follow from these few, so that a test can turn one of them.
        board.kernels = {};
        board.threadScaling.clear();
        auto& attention = board.opsPerSecond[static_cast<std::size_t>(model::OpKind::Attention)];
        attention[0] = attention[1];
        if (change)
            change(board);
        config.maxTokens = 12;
        if (!plan::setKnob(config, "--budget", budget) || !plan::setKnob(config, "--batch", batch))
            qFatal("no such knob");
        auto made = plan::planOrError(test::card("tiny.en"), config, board);
        if (!made)
            qFatal("%s", made.error().line().c_str());
        plan = *std::move(made);
        trace = sim::simulate(plan, board, {12, config.batch});
        auto found = analyze::limitsOf(trace, plan, board);
        if (!found)
            qFatal("%s", found.error().line().c_str());
        limits = *found;
    }
};

} // namespace

class LimitsTest : public QObject {
    Q_OBJECT

private slots:
    void nothingIsFasterThanItsFloor_data() {
        QTest::addColumn<QByteArray>("budget");
        QTest::addColumn<QByteArray>("batch");
        QTest::newRow("streamed") << QByteArray("40MiB") << QByteArray("1");
        QTest::newRow("resident") << QByteArray("none") << QByteArray("1");
        QTest::newRow("in a batch") << QByteArray("none") << QByteArray("3");
    }
    void nothingIsFasterThanItsFloor() {
        QFETCH(QByteArray, budget);
        QFETCH(QByteArray, batch);
        const Case c(budget.constData(), {}, batch.constData());
        for (const Limits& pass : c.limits.passes) {
            QVERIFY(pass.took > 0);
            QVERIFY2(pass.roof <= pass.took * 1.0001, "compute alone takes longer than the pass");
            QVERIFY(pass.roof >= pass.memory && pass.roof >= pass.compute);
            QVERIFY(pass.roof <= pass.memory + pass.compute);
        }
        QVERIFY(c.limits.run.floor() <= c.limits.run.took);
        QVERIFY(c.limits.run.gap() >= 0);
    }

    void passesAddUpToTheRun() {
        const Case c("40MiB");
        double took = 0;
        for (const Limits& pass : c.limits.passes)
            took += pass.took;
        QVERIFY(took <= c.limits.run.took * 1.0001);
        QVERIFY(took >= c.limits.run.took * 0.98);
        QCOMPARE(c.limits.decodeSteps, 11);
    }

    void theBoundIsWhatTheRunWaitsFor() {
        // A slow disk under a budget that streams.
        const Case slow("40MiB");
        QCOMPARE(slow.limits.of(PassKind::Decode).bound(), Bound::Storage);
        QVERIFY(slow.limits.of(PassKind::Decode).gap() < 0.1); // reads all the time
        // All is resident: a token reads its weights from memory, the encoder multiplies.
        const Case free("none", [](plan::BoardProfile& b) { b.memoryBytesPerSecond = 2e8; });
        QCOMPARE(free.limits.of(PassKind::Decode).bound(), Bound::Memory);
        const Case weak("none", [](plan::BoardProfile& b) { b.memoryBytesPerSecond = 1e12; });
        QCOMPARE(weak.limits.of(PassKind::Encode).bound(), Bound::Compute);
    }

    void aFixedCostIsAGapToPhysics() {
        const auto with = [](double ns) {
            return Case(
                       "none", [ns](plan::BoardProfile& b) { b.opFixedNs = b.opFixedAloneNs = ns; })
                .limits;
        };
        const auto lean = with(0).of(PassKind::Decode), fat = with(200'000).of(PassKind::Decode);
        QCOMPARE(lean.roof, fat.roof);
        QVERIFY(lean.gap() < 0.02);
        QVERIFY(fat.gap() > lean.gap() + 0.02);
    }

    void aTraceOfAnotherPlanIsRefused() {
        const Case a("40MiB"), b("none");
        const auto mixed = analyze::limitsOf(a.trace, b.plan, b.board);
        QVERIFY(!mixed);
        QCOMPARE(mixed.error().code, base::ErrorCode::BadInput);
    }
};

QTEST_GUILESS_MAIN(LimitsTest)
#include "tst_limits.moc"
