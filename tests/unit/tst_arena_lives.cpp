// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>

#include <QTest>

#include "sim_engine/analyze/arena_lives.h"
#include "tests/unit/trace_maker.h"

using namespace shardscope;
using namespace shardscope::analyze;
using base::Bytes;
using base::Nanos;
using tests::TraceMaker;

namespace {

ArenaLives livesOf(TraceMaker& maker) {
    ArenaLives lives;
    for (const trace::Event& e : maker.trace().events)
        lives.add(e, maker.legend());
    return lives;
}

std::size_t countOf(const std::vector<LifeMark>& marks) {
    return std::accumulate(
        marks.begin(), marks.end(), std::size_t(0),
        [](std::size_t n, const LifeMark& mark) { return n + mark.count; });
}

} // namespace

class TestArenaLives : public QObject {
    Q_OBJECT

private slots:
    void everyLoadAndAllocLivesUntilItIsGivenBack();
    void openLivesEndNow();
    void layoutShowsWhatIsHeldAndWhatIsFree();
    void marksLeaveOutWhatIsNotVisible();
    void shortLivesAreMergedAndCounted();
    void longLivesAreNeverMerged();
    void panningDoesNotRegroup();
    void theLifeBehindAMomentIsFound();
    void anEvictionWhoseLoadWasLostIsIgnored();
};

void TestArenaLives::everyLoadAndAllocLivesUntilItIsGivenBack() {
    TraceMaker maker;
    maker.load(10, 1, 0, 200, plan::Reason::Missed)
        .alloc(15, 0, 200, 50)
        .evict(20, 1, 0, 200, plan::Reason::LeastRecent)
        .free(30, 0, 200, 50);
    const ArenaLives arena = livesOf(maker);
    QCOMPARE_EQ(arena.lives().size(), std::size_t(2));
    const Life& weights = arena.lives()[0];
    QCOMPARE_EQ(weights.begin, 10);
    QCOMPARE_EQ(weights.end, 20);
    QCOMPARE_EQ(weights.loadReason, plan::Reason::Missed);
    QCOMPARE_EQ(weights.evictReason, plan::Reason::LeastRecent);
    QCOMPARE_EQ(weights.region, model::Region::StreamSlots);
    QCOMPARE_EQ(arena.lives()[1].region, model::Region::Activations);
    QCOMPARE_EQ(arena.top(), Bytes(250));
    QCOMPARE_EQ(lifeName(weights, maker.legend()), std::string_view("layer 1"));
}

void TestArenaLives::openLivesEndNow() {
    TraceMaker maker;
    maker.load(10, 0, 0, 100);
    const auto marks = livesOf(maker).marks(Nanos(0), Nanos(100), Nanos(1), Nanos(70));
    QCOMPARE_EQ(marks.size(), std::size_t(1));
    QCOMPARE_EQ(marks[0].end, 70);
}

void TestArenaLives::layoutShowsWhatIsHeldAndWhatIsFree() {
    TraceMaker maker;
    maker.load(10, 0, 0, 100).load(20, 1, 300, 200).alloc(30, 0, 100, 50).evict(40, 1, 300, 200);
    const ArenaLives arena = livesOf(maker);
    const auto layout = arena.layoutAt(Nanos(35), Bytes(1000));
    QCOMPARE_EQ(layout.size(), std::size_t(5));
    const std::vector<std::int64_t> offsets{0, 100, 150, 300, 500}, bytes{100, 50, 150, 200, 500};
    for (std::size_t i = 0; i < layout.size(); ++i) {
        QCOMPARE_EQ(layout[i].offset, offsets[i]);
        QCOMPARE_EQ(layout[i].bytes, bytes[i]);
    }
    QVERIFY(layout[2].isFree() && layout[4].isFree());
    QCOMPARE_EQ(arena.layoutAt(Nanos(40), Bytes(1000)).back().bytes, 850);
    QCOMPARE_EQ(arena.layoutAt(Nanos(5), Bytes(1000)).size(), std::size_t(1));
    QCOMPARE_EQ(*arena.lifeAt(Bytes(350), Nanos(35)), 1u);
    QVERIFY(!arena.lifeAt(Bytes(200), Nanos(35)));
}

void TestArenaLives::marksLeaveOutWhatIsNotVisible() {
    TraceMaker maker;
    maker.load(10, 1, 0, 200).evict(20, 1, 0, 200).load(30, 2, 0, 300).evict(40, 2, 0, 300);
    maker.load(5, 0, 500, 100);
    const ArenaLives arena = livesOf(maker);
    const auto marks = arena.marks(Nanos(22), Nanos(29), Nanos(1), Nanos(100));
    QCOMPARE_EQ(marks.size(), std::size_t(1)); // the pinned one spans it
    QCOMPARE_EQ(marks[0].offset, 500);
}

void TestArenaLives::shortLivesAreMergedAndCounted() {
    TraceMaker maker;
    for (std::uint64_t i = 0; i < 1000; ++i)
        maker.load(i * 10, 1, 0, 100 + i % 7).evict(i * 10 + 9, 1, 0, 100 + i % 7);
    const ArenaLives arena = livesOf(maker);
    const auto marks = arena.marks(Nanos(0), Nanos(10000), Nanos(128), Nanos(10000));
    QCOMPARE_LE(marks.size(), std::size_t(79));
    QCOMPARE_EQ(countOf(marks), std::size_t(1000));
    QCOMPARE_EQ(marks[1].minBytes, 100);
    QCOMPARE_EQ(marks[1].maxBytes, 106);
    QCOMPARE_EQ(marks[1].maxDuration, 9);
}

void TestArenaLives::longLivesAreNeverMerged() {
    TraceMaker maker;
    std::uint64_t t = 0;
    for (int i = 0; i < 50; ++i) {
        for (int k = 0; k < 5; ++k, t += 10)
            maker.load(t, 1, 0, 200).evict(t + 5, 1, 0, 200);
        maker.load(t, 2, 0, 300).evict(t + 500, 2, 0, 300);
        t += 510;
    }
    const ArenaLives arena = livesOf(maker);
    const auto end = static_cast<std::int64_t>(t);
    const auto marks = arena.marks(Nanos(0), Nanos(end), Nanos(100), Nanos(end));
    const auto longs = std::count_if(marks.begin(), marks.end(), [](const LifeMark& mark) {
        return mark.maxDuration == 500 && mark.count == 1;
    });
    QCOMPARE_EQ(longs, 50);
    QCOMPARE_EQ(countOf(marks), std::size_t(300));
}

void TestArenaLives::panningDoesNotRegroup() {
    TraceMaker maker;
    for (std::uint64_t i = 0; i < 2000; ++i)
        maker.load(i * 7, 1, 0, 200).evict(i * 7 + 5, 1, 0, 200);
    const ArenaLives arena = livesOf(maker);
    const auto a = arena.marks(Nanos(1000), Nanos(9000), Nanos(60), Nanos(20000));
    const auto b = arena.marks(Nanos(1171), Nanos(9171), Nanos(60), Nanos(20000));
    const auto find = [&b](const LifeMark& mark) {
        return std::any_of(b.begin(), b.end(), [&mark](const LifeMark& other) {
            return other.first == mark.first && other.count == mark.count;
        });
    };
    const auto same = std::count_if(a.begin(), a.end(), find);
    QCOMPARE_GE(same, static_cast<std::ptrdiff_t>(a.size()) - 4); // all but those that left
}

void TestArenaLives::theLifeBehindAMomentIsFound() {
    TraceMaker maker;
    for (std::uint64_t i = 0; i < 10; ++i)
        maker.load(100 + i * 100, 1, 0, 200).evict(150 + i * 100, 1, 0, 200);
    const ArenaLives arena = livesOf(maker);
    QCOMPARE_EQ(*arena.lifeOf(LifeKind::Weights, 1, Nanos(420)), 3u);
    QCOMPARE_EQ(*arena.lifeOf(LifeKind::Weights, 1, Nanos(390)), 2u); // the last one before
    QCOMPARE_EQ(*arena.lifeOf(LifeKind::Weights, 1, Nanos(5)), 0u);   // the one to come
    QVERIFY(!arena.lifeOf(LifeKind::Weights, 2, Nanos(420)));
    QVERIFY(!arena.lifeOf(LifeKind::Buffer, 1, Nanos(420)));
}

void TestArenaLives::anEvictionWhoseLoadWasLostIsIgnored() {
    TraceMaker maker;
    maker.evict(10, 1, 0, 200).free(20, 0, 0, 50).load(30, 1, 0, 200).evict(40, 1, 512, 200);
    const ArenaLives arena = livesOf(maker);
    QCOMPARE_EQ(arena.lives().size(), std::size_t(1));
    QVERIFY(arena.lives()[0].isOpen());
}

QTEST_APPLESS_MAIN(TestArenaLives)
#include "tst_arena_lives.moc"
