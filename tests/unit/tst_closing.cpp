// SPDX-License-Identifier: GPL-3.0-or-later
#include <set>

#include "plan_fixtures.h"
#include "sim_engine/plan/closing.h"

using namespace shardscope;
using plan::Reason;
using plan::Step;
using plan::StepKind;

namespace {

plan::Plan tight() {
    plan::RunConfig config;
    config.budget = base::mebibytes(40);
    return test::planned(test::card("tiny.en"), config);
}

} // namespace

class TestClosing : public QObject {
    Q_OBJECT

private slots:
    void undoesWhatTheWindowTook();
    void leavesPinsOfTheRun();
    void afterPrefillAloneItLetsGoOfWhatWasReadAhead();
};

void TestClosing::undoesWhatTheWindowTook() {
    const plan::Plan p = tight();
    for (const std::int32_t last : {0, 1, 2, 5, 100, 223}) {
        std::multiset<std::pair<bool, std::uint32_t>> held; // weights or buffer, and which
        const auto apply = [&](const std::vector<Step>& steps) {
            for (const Step& s : steps) {
                const bool weights = s.kind == StepKind::Load || s.kind == StepKind::Evict;
                if (s.kind == StepKind::Load || s.kind == StepKind::Alloc)
                    held.insert({weights, s.id});
                else if (s.kind != StepKind::Compute)
                    QVERIFY(held.erase({weights, s.id}) == 1);
            }
        };
        apply(p.window);
        for (std::int32_t step = 1; step <= last; ++step)
            apply(p.stepsOf(step));
        const auto closing = plan::closingSteps(p, last);
        apply(closing);
        for (const Step& s : closing)
            QCOMPARE(s.reason, Reason::PhaseEnded);
        for (const auto& [weights, id] : held)
            QVERIFY(weights && p.shards[id].pinned);
    }
}

void TestClosing::leavesPinsOfTheRun() {
    const plan::Plan whole = test::planned(test::card("tiny.en"), {});
    for (const Step& s : plan::closingSteps(whole, 3))
        QCOMPARE(s.kind, StepKind::Free);
}

void TestClosing::afterPrefillAloneItLetsGoOfWhatWasReadAhead() {
    const plan::Plan p = tight();
    const auto closing = plan::closingSteps(p, 0);
    std::size_t slotsFreed = 0;
    for (const Step& s : closing)
        slotsFreed += s.kind == StepKind::Evict && !p.shards[s.id].pinned;
    QCOMPARE(slotsFreed, std::size_t{2});
}

QTEST_GUILESS_MAIN(TestClosing)
#include "tst_closing.moc"
