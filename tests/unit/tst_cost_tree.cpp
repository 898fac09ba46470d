// SPDX-License-Identifier: GPL-3.0-or-later
#include <functional>

#include <QTest>

#include "plan_fixtures.h"
#include "sim_engine/analyze/cost_tree.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"

using namespace shardscope;
using analyze::CostNode;

namespace {

const trace::Trace& streamedRun() {
    static const trace::Trace trace = [] {
        plan::RunConfig config;
        config.maxTokens = 10;
        if (!plan::setKnob(config, "--budget", "40MiB"))
            qFatal("no budget");
        return sim::simulate(test::planned(test::card("tiny.en"), config), test::board(), {10, 1});
    }();
    return trace;
}

CostNode whole() {
    return analyze::costTree(streamedRun(), base::Nanos(0), streamedRun().duration());
}

void eachParent(const CostNode& node, const std::function<void(const CostNode&)>& look) {
    if (node.children.empty())
        return;
    look(node);
    for (const CostNode& child : node.children)
        eachParent(child, look);
}

} // namespace

class CostTreeTest : public QObject {
    Q_OBJECT

private slots:
    void childrenAddUpToTheirParent() {
        int parents = 0;
        eachParent(whole(), [&](const CostNode& node) {
            std::int64_t ns = 0, bytes = 0, count = 0;
            for (const CostNode& child : node.children) {
                ns += child.ns;
                bytes += child.bytes;
                count += child.count;
            }
            QCOMPARE(ns, node.ns);
            QCOMPARE(bytes, node.bytes);
            QCOMPARE(count, node.count);
            ++parents;
        });
        QVERIFY(parents > 10);
    }

    void theTreeHoldsTheBytesAndTheTimeOfTheRun() {
        const CostNode run = whole();
        const analyze::Summary s = analyze::summarise(streamedRun());
        QCOMPARE(run.bytes, s.bytesRead);
        // Computed or waited for: there is little else in a simulated run.
        const double ms = static_cast<double>(run.ns) * 1e-6;
        QVERIFY(ms <= s.totalMs * 1.0001);
        QVERIFY(ms >= s.totalMs * 0.97);
        QCOMPARE(run.children.size(), model::kPassCount);
    }

    void halvesOfARunAddUpToTheWhole() {
        const base::Nanos end = streamedRun().duration(), middle(end.value / 2 + 1);
        const CostNode first = analyze::costTree(streamedRun(), base::Nanos(0), middle);
        const CostNode second = analyze::costTree(streamedRun(), middle, end);
        QCOMPARE(first.ns + second.ns, whole().ns);
        QVERIFY(first.ns > 0 && second.ns > 0);
    }

    void theHeaviestLeavesComeFirstAndOnce() {
        const auto byTime = analyze::heaviestLeaves(whole(), false, 5);
        QCOMPARE(byTime.size(), 5u);
        for (std::size_t i = 1; i < byTime.size(); ++i)
            QVERIFY(byTime[i - 1].ns >= byTime[i].ns);
        const auto byBytes = analyze::heaviestLeaves(whole(), true, 1000);
        QCOMPARE(byBytes[0].kind, CostNode::Kind::Shard); // ops read nothing
        std::int64_t bytes = 0;
        for (const CostNode& leaf : byBytes)
            bytes += leaf.bytes;
        QCOMPARE(bytes, whole().bytes);
    }

    void aRangeWithoutEventsIsEmpty() {
        const base::Nanos end = streamedRun().duration();
        const CostNode none =
            analyze::costTree(streamedRun(), end + base::Nanos(10), end + base::Nanos(20));
        QCOMPARE(none.ns, 0);
        QVERIFY(none.children.empty());
    }
};

QTEST_GUILESS_MAIN(CostTreeTest)
#include "tst_cost_tree.moc"
