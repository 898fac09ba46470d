// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QTest>

#include "sim_engine/plan/slot_cache.h"

using namespace shardscope;
using base::BlockId;
using base::ShardId;
using plan::Policy;
using plan::Reason;
using plan::SlotCache;
using plan::Step;
using plan::StepKind;

namespace {

std::vector<BlockId> blocks(std::uint32_t count) {
    std::vector<BlockId> all;
    for (std::uint32_t i = 0; i < count; ++i)
        all.push_back(BlockId(i));
    return all;
}

std::vector<ShardId> cycle(std::uint32_t count) {
    std::vector<ShardId> all;
    for (std::uint32_t i = 0; i < count; ++i)
        all.push_back(ShardId(i));
    return all;
}

/// Loads of one pass over the cycle once the cache has settled, on the mean of 400 passes.
double misses(Policy policy, std::uint32_t shards, std::uint32_t places) {
    SlotCache cache(blocks(places), cycle(shards), policy);
    std::int64_t access = 0;
    std::size_t loads = 0;
    constexpr int kPasses = 400, kSettled = 100;
    for (int pass = 0; pass < kPasses + kSettled; ++pass)
        for (std::uint32_t i = 0; i < shards; ++i, ++access) {
            std::vector<Step> steps;
            if (!cache.fetch(access, access, steps))
                qFatal("on demand there is always a place");
            if (pass >= kSettled)
                loads += static_cast<std::size_t>(std::count_if(
                    steps.begin(), steps.end(), [](auto& s) { return s.kind == StepKind::Load; }));
        }
    return static_cast<double>(loads) / kPasses;
}

} // namespace

class TestSlotCache : public QObject {
    Q_OBJECT

private slots:
    void onACycleEachPolicyHitsAsOften_data();
    void onACycleEachPolicyHitsAsOften();
    void doesNotEvictWhatIsNeededBefore();
    void anEvictionNamesItsPolicy_data();
    void anEvictionNamesItsPolicy();
    void tellsFirstLoadsFromMisses();
    void releasesAllThatItHolds();
    void equalSignaturesMeanEqualFutures();
};

void TestSlotCache::onACycleEachPolicyHitsAsOften_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<int>("shards");
    QTest::addColumn<int>("places");
    QTest::addColumn<double>("missesPerPass");
    for (const auto& [n, c] : {std::pair{10, 4}, std::pair{7, 6}, std::pair{16, 2}}) {
        const double best = n - (c - 1.0) * n / (n - 1.0); // hits (C-1)/(N-1) of the accesses
        const auto row = [&](const char* name, Policy policy, double expected) {
            QTest::addRow("%s, %d shards in %d places", name, n, c)
                << static_cast<int>(policy) << n << c << expected;
        };
        row("lru never hits", Policy::Lru, n);
        row("mru", Policy::Mru, best);
        row("belady", Policy::Belady, best);
        row("streaming slots never hit", Policy::Pin, n);
    }
    QTest::newRow("all fit") << static_cast<int>(Policy::Lru) << 5 << 5 << 0.0;
    QTest::newRow("one shard") << static_cast<int>(Policy::Mru) << 1 << 1 << 0.0;
    QTest::newRow("one place") << static_cast<int>(Policy::Belady) << 3 << 1 << 3.0;
}

void TestSlotCache::onACycleEachPolicyHitsAsOften() {
    QFETCH(int, policy);
    QFETCH(int, shards);
    QFETCH(int, places);
    QFETCH(double, missesPerPass);
    const double counted = misses(
        static_cast<Policy>(policy), static_cast<std::uint32_t>(shards),
        static_cast<std::uint32_t>(places));
    QVERIFY2(
        std::abs(counted - missesPerPass) <= 0.02 * shards / 10,
        qPrintable(QString::number(counted)));
}

void TestSlotCache::doesNotEvictWhatIsNeededBefore() {
    for (const Policy policy :
         {Policy::Pin, Policy::Lru, Policy::Mru, Policy::Random, Policy::Belady}) {
        SlotCache cache(blocks(3), cycle(8), policy);
        std::vector<Step> steps;
        for (std::int64_t access = 0; access < 3; ++access)
            QVERIFY(cache.fetch(access, 0, steps));
        // All three are needed from access 0 on: a fourth has to wait, and changes nothing.
        const auto before = cache.signature(0);
        QVERIFY(!cache.fetch(3, 0, steps));
        QCOMPARE(steps.size(), std::size_t{3});
        if (policy != Policy::Random)
            QCOMPARE(cache.signature(0), before);
        // Once access 0 is over there is exactly one that may go.
        QVERIFY(cache.fetch(3, 1, steps));
        QCOMPARE(steps[3].kind, StepKind::Evict);
        QCOMPARE(steps[3].id, 0u);
        QCOMPARE(steps[4].kind, StepKind::Load);
        QCOMPARE(steps[4].block, steps[3].block);
    }
}

void TestSlotCache::anEvictionNamesItsPolicy_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<int>("reason");
    const auto row = [](const char* name, Policy policy, Reason reason) {
        QTest::newRow(name) << static_cast<int>(policy) << static_cast<int>(reason);
    };
    row("pin", Policy::Pin, Reason::SlotNeeded);
    row("lru", Policy::Lru, Reason::LeastRecent);
    row("mru", Policy::Mru, Reason::MostRecent);
    row("random", Policy::Random, Reason::Drawn);
    row("belady", Policy::Belady, Reason::FarthestUse);
}

void TestSlotCache::anEvictionNamesItsPolicy() {
    QFETCH(int, policy);
    QFETCH(int, reason);
    SlotCache cache(blocks(2), cycle(5), static_cast<Policy>(policy));
    std::vector<Step> steps;
    for (std::int64_t access = 0; access < 3; ++access)
        QVERIFY(cache.fetch(access, access, steps));
    QCOMPARE(steps.size(), std::size_t{4});
    QCOMPARE(steps[2].kind, StepKind::Evict);
    QCOMPARE(static_cast<int>(steps[2].reason), reason);
}

void TestSlotCache::tellsFirstLoadsFromMisses() {
    for (const Policy policy : {Policy::Lru, Policy::Pin}) {
        SlotCache cache(blocks(2), cycle(3), policy);
        std::vector<Step> steps;
        for (std::int64_t access = 0; access < 6; ++access)
            QVERIFY(cache.fetch(access, access, steps));
        std::vector<Reason> reasons;
        for (const Step& s : steps)
            if (s.kind == StepKind::Load)
                reasons.push_back(s.reason);
        const Reason again = policy == Policy::Pin ? Reason::Streamed : Reason::Missed;
        const std::vector<Reason> expected{
            Reason::Streamed, Reason::Streamed, Reason::Streamed, again, again, again};
        QVERIFY(reasons == expected);
    }
}

void TestSlotCache::releasesAllThatItHolds() {
    SlotCache cache(blocks(3), cycle(5), Policy::Pin);
    std::vector<Step> steps;
    QVERIFY(cache.fetch(0, 0, steps) && cache.fetch(1, 0, steps));
    steps.clear();
    cache.release(Reason::PhaseEnded, steps);
    QCOMPARE(steps.size(), std::size_t{2});
    for (const Step& s : steps) {
        QCOMPARE(s.kind, StepKind::Evict);
        QCOMPARE(s.reason, Reason::PhaseEnded);
    }
    cache.release(Reason::PhaseEnded, steps);
    QCOMPARE(steps.size(), std::size_t{2});
}

void TestSlotCache::equalSignaturesMeanEqualFutures() {
    for (const Policy policy : {Policy::Pin, Policy::Lru, Policy::Mru, Policy::Belady}) {
        constexpr std::uint32_t kShards = 9;
        SlotCache cache(blocks(4), cycle(kShards), policy);
        std::vector<std::vector<std::int64_t>> states;
        std::vector<std::vector<Step>> passes;
        std::int64_t access = 0;
        for (int pass = 0; pass < 60; ++pass) {
            states.push_back(cache.signature(access));
            std::vector<Step> steps;
            for (std::uint32_t i = 0; i < kShards; ++i, ++access)
                QVERIFY(cache.fetch(access, access, steps));
            passes.push_back(steps);
        }
        std::size_t repeats = 0;
        for (std::size_t i = 0; i < states.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (states[i] == states[j]) {
                    ++repeats;
                    QVERIFY(passes[i] == passes[j]);
                }
        QVERIFY(repeats > 0);
    }
}

QTEST_APPLESS_MAIN(TestSlotCache)
#include "tst_slot_cache.moc"
