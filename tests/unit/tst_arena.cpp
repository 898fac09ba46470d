// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <random>
#include <vector>

#include <QTest>

#include "sim_engine/plan/arena.h"

using namespace shardscope;
using base::Bytes;
using base::kibibytes;
using plan::Block;

namespace {

Block block(std::int64_t pages, std::int32_t first, std::int32_t last) {
    return {"", model::Region::Activations, {}, Bytes(pages * plan::kPage), {{first, last}}};
}

bool livesAt(const Block& b, std::int32_t tick) {
    return std::any_of(b.lives.begin(), b.lives.end(), [&](const plan::Life& life) {
        return life.first <= tick && tick <= life.last;
    });
}

bool overlap(const Block& x, const Block& y) {
    bool together = false;
    for (const plan::Life& life : x.lives)
        for (std::int32_t tick = life.first; tick <= life.last; ++tick)
            together = together || livesAt(y, tick);
    return together && x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
}

/// The most that is taken at one tick: no placement needs less.
Bytes densest(const std::vector<Block>& blocks, std::int32_t lastTick) {
    Bytes most;
    for (std::int32_t tick = 0; tick <= lastTick; ++tick) {
        Bytes sum;
        for (const Block& b : blocks)
            if (livesAt(b, tick))
                sum += b.bytes;
        most = std::max(most, sum);
    }
    return most;
}

} // namespace

class TestArena : public QObject {
    Q_OBJECT

private slots:
    void nothingNeedsNothing();
    void wholePagesAreGivenOut();
    void whatNeverLivesTogetherSharesAPlace();
    void whileDecodingThereIsNoGap();
    void aHoleIsFilled();
    void betweenItsLivesAPlaceIsFree();
    void randomLivesNeverOverlapAndStayNearTheLeast();
};

void TestArena::nothingNeedsNothing() {
    QCOMPARE(plan::placeBlocks({}, 5), Bytes(0));
}

void TestArena::wholePagesAreGivenOut() {
    std::vector<Block> blocks{block(1, 0, 3), block(1, 0, 3)};
    blocks[0].bytes = Bytes(1);
    blocks[1].bytes = Bytes(plan::kPage + 1);
    QCOMPARE(plan::placeBlocks(blocks, 3), Bytes(3 * plan::kPage));
    QCOMPARE(blocks[0].bytes, Bytes(plan::kPage));
    QCOMPARE(blocks[1].bytes, Bytes(2 * plan::kPage));
    for (const Block& b : blocks)
        QCOMPARE(b.offset.value % plan::kPage, std::int64_t{0});
}

void TestArena::whatNeverLivesTogetherSharesAPlace() {
    std::vector<Block> blocks{block(4, 0, 2), block(3, 3, 5), block(4, 6, 6)};
    QCOMPARE(plan::placeBlocks(blocks, 9), kibibytes(16));
    for (const Block& b : blocks)
        QCOMPARE(b.offset, Bytes(0));
    // Lives include both of their ends.
    std::vector<Block> touching{block(4, 0, 3), block(3, 3, 5)};
    QCOMPARE(plan::placeBlocks(touching, 9), kibibytes(28));
}

void TestArena::whileDecodingThereIsNoGap() {
    std::vector<Block> blocks{block(9, 0, 4), block(2, 3, 9), block(5, 9, 9), block(3, 0, 9)};
    QCOMPARE(plan::placeBlocks(blocks, 9), kibibytes(4 * (3 + 2 + 9)));
    QCOMPARE(blocks[3].offset, Bytes(0)); // the longest-lived lowest
    QCOMPARE(blocks[1].offset, kibibytes(12));
    QCOMPARE(blocks[2].offset, kibibytes(20));
    QCOMPARE(blocks[0].offset, kibibytes(20)); // only it and the pair below live before tick 5
}

void TestArena::aHoleIsFilled() {
    // The large ones lie at 0 and above; at tick 2 the first is over and leaves a hole.
    std::vector<Block> blocks{block(8, 0, 1), block(7, 0, 3), block(2, 2, 3)};
    QCOMPARE(plan::placeBlocks(blocks, 9), kibibytes(4 * 15));
    QCOMPARE(blocks[2].offset, Bytes(0));
}

void TestArena::betweenItsLivesAPlaceIsFree() {
    std::vector<Block> blocks{block(8, 0, 1), block(6, 2, 4), block(8, 5, 5)};
    blocks[0].lives.push_back({5, 6});
    QCOMPARE(plan::placeBlocks(blocks, 9), kibibytes(4 * 16));
    QCOMPARE(blocks[0].offset, Bytes(0));
    QCOMPARE(blocks[1].offset, Bytes(0));
    QCOMPARE(blocks[2].offset, kibibytes(32));
}

void TestArena::randomLivesNeverOverlapAndStayNearTheLeast() {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
    double worst = 1;
    for (int round = 0; round < 500; ++round) {
        std::vector<Block> blocks;
        for (int i = below(40); i >= 0; --i) {
            const std::int32_t first = below(30);
            const std::int32_t last = below(4) == 0 ? 29 : std::min(29, first + below(10));
            blocks.push_back(block(1 + below(50), first, last));
            std::vector<plan::Life>& lives = blocks.back().lives;
            while (below(2) == 0 && lives.back().last + 2 <= 29) {
                const std::int32_t next = std::min(29, lives.back().last + 2 + below(4));
                lives.push_back({next, std::min(29, next + below(3))});
            }
        }
        const Bytes peak = plan::placeBlocks(blocks, 29);
        Bytes end;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            QVERIFY(blocks[i].offset.value >= 0);
            end = std::max(end, blocks[i].offset + blocks[i].bytes);
            for (std::size_t j = 0; j < i; ++j)
                QVERIFY(!overlap(blocks[i], blocks[j]));
        }
        QCOMPARE(peak, end);
        worst = std::max(worst, peak.real() / densest(blocks, 29).real());
    }
    QVERIFY2(worst < 2, qPrintable(QString::number(worst)));
}

QTEST_APPLESS_MAIN(TestArena)
#include "tst_arena.moc"
