// SPDX-License-Identifier: GPL-3.0-or-later
#include <set>

#include "plan_fixtures.h"
#include "plan_replay.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/shards.h"

using namespace shardscope;
using base::Bytes;
using base::ShardId;
using model::ShardKey;
using Stack = ShardKey::Stack;

namespace {

plan::Plan cut(const char* name, const char* encoder, const char* decoder) {
    plan::RunConfig config;
    config.maxTokens = 4096; // so that every text position is reached
    if (!plan::setKnob(config, "--encoder-shard", encoder) ||
        !plan::setKnob(config, "--decoder-shard", decoder))
        qFatal("no such granularity");
    return test::planned(test::card(name), config);
}

std::size_t count(const plan::Plan& plan, Stack stack) {
    std::size_t n = 0;
    for (const plan::Shard& s : plan.shards)
        n += s.key.stack == stack;
    return n;
}

} // namespace

class TestShards : public QObject {
    Q_OBJECT

private slots:
    void cutsByGranularity_data();
    void cutsByGranularity();
    void everyWeightIsInOneShard_data();
    void everyWeightIsInOneShard();
    void vocabularyPiecesCoverTheTableOnce();
    void shardsAreNumberedInTheOrderOfUse();
    void positionsAreKeptAsFarAsARunReaches();
    void headersBetweenTensorsAreReadAlong();
};

void TestShards::cutsByGranularity_data() {
    QTest::addColumn<QString>("granularity");
    QTest::addColumn<int>("encoder");
    QTest::addColumn<int>("decoder");
    // tiny: 4 layers each, and before the encoder two convolutions and the table of positions (two
    // pieces); small parts stand with the last layer.
    QTest::newRow("one layer") << "1" << 4 + 1 << 4;
    QTest::newRow("two layers") << "2" << 2 + 1 << 2;
    QTest::newRow("three layers") << "3" << 2 + 1 << 2;
    QTest::newRow("all layers") << "99" << 1 + 1 << 1;
    QTest::newRow("sublayers") << "sublayer" << 4 * 2 + 1 << 4 * 3;
    QTest::newRow("tensors") << "tensor" << 4 * 6 + 2 + 2 + 1 << 4 * (4 + 2 + 2) + 1;
}

void TestShards::cutsByGranularity() {
    QFETCH(QString, granularity);
    const std::string text = granularity.toStdString();
    const plan::Plan p = cut("tiny.en", text.c_str(), text.c_str());
    QTEST(static_cast<int>(count(p, Stack::Encoder)), "encoder");
    QTEST(static_cast<int>(count(p, Stack::Decoder)), "decoder");
    QCOMPARE(count(p, Stack::Rows), std::size_t{1});
}

void TestShards::everyWeightIsInOneShard_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"sample", "tiny.en", "large-v3-turbo"})
        QTest::newRow(name) << name;
}

void TestShards::everyWeightIsInOneShard() {
    QFETCH(QString, name);
    for (const char* granularity : {"1", "3", "sublayer", "tensor"}) {
        const plan::Plan p = cut(name.toStdString().c_str(), granularity, granularity);
        const std::string wrong = test::checkShards(p);
        QVERIFY2(wrong.empty(), wrong.c_str());
        // All tensors together, and no matrix twice: headers read along are less than 1 %.
        Bytes sum;
        std::vector<std::pair<Bytes, Bytes>> pieces;
        for (const plan::Shard& s : p.shards)
            for (const plan::Extent& e : s.extents) {
                sum += e.bytes;
                pieces.emplace_back(e.fileOffset, e.fileOffset + e.bytes);
            }
        std::sort(pieces.begin(), pieces.end());
        for (std::size_t i = 1; i < pieces.size(); ++i) {
            // Vectors of a few KiB may stand in several shards, so that each is whole by itself.
            const Bytes twice = pieces[i - 1].second - pieces[i].first;
            QVERIFY(twice < base::kibibytes(64));
        }
        QVERIFY(sum >= p.card->weightBytes());
        QVERIFY(sum.real() <= 1.01 * p.card->weightBytes().real());
        QVERIFY(pieces.back().second <= p.card->fileBytes);
    }
}

void TestShards::vocabularyPiecesCoverTheTableOnce() {
    for (const std::int32_t pieces : {0, 1, 3, 64, 3000}) {
        plan::RunConfig config;
        config.vocabShards = pieces;
        const plan::Plan p = test::planned(test::card("tiny.en"), config);
        std::int64_t next = 0, ops = 0;
        for (const model::Op& op : p.graph->ops)
            if (op.key.stack == Stack::Vocabulary) {
                QCOMPARE(op.weights.size(), std::size_t{1});
                QCOMPARE(op.weights[0].firstRow, next);
                QVERIFY(op.weights[0].rowCount > 0);
                next += op.weights[0].rowCount;
                ++ops;
            }
        QCOMPARE(next, std::int64_t{51864});
        if (pieces > 0)
            QVERIFY(ops <= pieces && ops > pieces * 9 / 10);
    }
}

void TestShards::shardsAreNumberedInTheOrderOfUse() {
    const plan::Plan p = cut("base", "sublayer", "tensor");
    std::uint32_t next = 0;
    for (const ShardId id : p.shardOfOp) {
        if (!id.valid() || p.shard(id).key.stack == Stack::Rows)
            continue;
        QVERIFY(id.value <= next);
        next = std::max(next, id.value + 1);
    }
}

void TestShards::positionsAreKeptAsFarAsARunReaches() {
    plan::RunConfig config;
    config.maxTokens = 10;
    const plan::Plan p = test::planned(test::card("tiny.en"), config);
    QCOMPARE(p.shards.back().key.stack, Stack::Rows);
    QCOMPARE(p.shards.back().bytes, Bytes((2 + 10) * 384 * 4));
}

void TestShards::headersBetweenTensorsAreReadAlong() {
    // A layer's tensors follow each other in the file: one extent, so one read.
    const plan::Plan p = cut("tiny.en", "1", "1");
    for (const plan::Shard& s : p.shards)
        if (s.key.stack == Stack::Encoder && s.key.layer >= 0)
            QCOMPARE(s.extents.size(), std::size_t{1});
}

QTEST_GUILESS_MAIN(TestShards)
#include "tst_shards.moc"
