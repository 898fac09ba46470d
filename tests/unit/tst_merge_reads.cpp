// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "plan_fixtures.h"
#include "plan_replay.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/merge_reads.h"

using namespace shardscope;
using base::Bytes;
using plan::Step;
using plan::StepKind;

namespace {

struct Reads {
    std::size_t loads = 0, requests = 0;
    Bytes bytes;
};

/// What the second token reads.
Reads readsOf(const plan::Plan& plan) {
    Reads reads;
    for (const Step& s : plan.stepsOf(2))
        if (s.kind == StepKind::Load) {
            ++reads.loads;
            reads.requests += plan.shards[s.id].extents.size();
            reads.bytes += plan.shards[s.id].bytes;
        }
    return reads;
}

plan::RunConfig configOf(const QStringList& knobs, std::optional<Bytes> useful) {
    plan::RunConfig config;
    config.usefulRead = useful;
    for (qsizetype i = 0; i + 1 < knobs.size(); i += 2)
        if (!plan::setKnob(config, knobs[i].toStdString(), knobs[i + 1].toStdString()))
            qFatal("no such knob");
    return config;
}

/// Requests past the page cache: 1 ms and 100 MB/s, of which 4 MiB are useful.
void addSlowReads(plan::BoardProfile& board) {
    for (const double bytes : {65536.0, 1048576.0}) {
        const double ns = 1e6 + 10 * bytes;
        board.reads.push_back(
            {plan::ReadPath::Direct, Bytes(static_cast<std::int64_t>(bytes)), 1, ns, ns,
             bytes / ns * 1e9});
    }
}

/// Nothing is smaller than that.
constexpr Bytes kNever(1);

} // namespace

class TestMergeReads : public QObject {
    Q_OBJECT

private slots:
    void neighboursAreReadByOneRequest_data() {
        QTest::addColumn<QStringList>("knobs");
        const QStringList tensors{"--decoder-shard", "tensor", "--encoder-shard", "tensor"};
        QTest::newRow("all streamed") << tensors + QStringList{"--pin", "none"};
        QTest::newRow("three slots") << tensors + QStringList{"--pin", "none", "--slots", "3"};
        QTest::newRow("on demand") << tensors + QStringList{"--pin", "none", "--slots", "1"};
        QTest::newRow("a part is pinned") << tensors + QStringList{"--pin", "8MB"};
        QTest::newRow("batch") << tensors + QStringList{"--pin", "none", "--batch", "3"};
    }
    void neighboursAreReadByOneRequest() {
        QFETCH(QStringList, knobs);
        const auto card = test::card("base.en");
        const plan::Plan apart = test::planned(card, configOf(knobs, kNever));
        const plan::Plan merged = test::planned(card, configOf(knobs, base::mebibytes(4)));
        const Reads before = readsOf(apart), after = readsOf(merged);
        QVERIFY(after.loads < before.loads);
        QVERIFY(after.requests < before.requests);
        // The same weights, and at the most the headers between tensors that are now read along.
        QVERIFY(after.bytes >= before.bytes);
        QVERIFY(after.bytes <= before.bytes + Bytes(512) * std::int64_t(before.loads));
        QCOMPARE(merged.peak.value, apart.peak.value);
        QVERIFY(merged.hash != apart.hash);
        const std::string wrong = test::checkShards(merged);
        QVERIFY2(wrong.empty(), wrong.c_str());
        const std::string replayed = test::replay(merged, {9, 3, 0});
        QVERIFY2(replayed.empty(), replayed.c_str());
    }

    void aMergedShardFitsTheSlots() {
        const plan::Plan p = test::planned(
            test::card("small.en"),
            configOf({"--decoder-shard", "tensor", "--pin", "none"}, base::mebibytes(64)));
        bool any = false;
        for (const plan::Shard& s : p.shards)
            any = any || s.name.find(" to ") != std::string::npos;
        QVERIFY(any);
        for (const auto& steps : p.cycles)
            for (const Step& s : steps)
                if (s.kind == StepKind::Load)
                    QVERIFY(p.shards[s.id].held <= p.block(s.block).bytes);
    }

    void whatIsUsefulStaysApart() {
        const QStringList tensors{"--decoder-shard", "tensor", "--pin", "none"};
        const plan::Plan p =
            test::planned(test::card("base.en"), configOf(tensors, base::mebibytes(1)));
        for (const plan::Shard& s : p.shards)
            if (s.name.find(" to ") != std::string::npos)
                QVERIFY(s.bytes < base::mebibytes(4));
        const QStringList layers{"--pin", "none"};
        QVERIFY(
            test::planned(test::card("base.en"), configOf(layers, base::mebibytes(1))).hash ==
            test::planned(test::card("base.en"), configOf(layers, kNever)).hash);
    }

    void theBoardSaysWhatIsUsefulOrTheEncoderAloneIsMerged() {
        const auto merged = [](const plan::BoardProfile& board, model::ShardKey::Stack stack) {
            const auto plan = plan::planOrError(
                test::card("base.en"),
                configOf(
                    {"--decoder-shard", "tensor", "--encoder-shard", "tensor", "--pin", "none"},
                    {}),
                board);
            if (!plan)
                qFatal("%s", plan.error().line().c_str());
            return std::count_if(plan->shards.begin(), plan->shards.end(), [&](auto& s) {
                return s.key.stack == stack && s.name.find(" to ") != std::string::npos;
            });
        };
        using Stack = model::ShardKey::Stack;
        plan::BoardProfile board = test::board();
        board.reads.clear();
        QVERIFY(merged(board, Stack::Encoder) > 0);
        QCOMPARE(merged(board, Stack::Decoder), 0);
        addSlowReads(board);
        QVERIFY(merged(board, Stack::Decoder) > 0);

        plan::RunConfig asked;
        asked.usefulRead = base::kibibytes(64);
        QCOMPARE(*plan::withUsefulRead(asked, board).usefulRead, base::kibibytes(64));
        QCOMPARE(*plan::withUsefulRead({}, board).usefulRead, base::mebibytes(4));
    }

    void cachesKeepTheirShards() {
        for (const char* policy : {"lru", "mru", "random", "belady"}) {
            const QStringList knobs{"--decoder-shard", "tensor", "--budget", "80MB",
                                    "--policy",        policy};
            const auto card = test::card("base.en");
            QCOMPARE(
                readsOf(test::planned(card, configOf(knobs, base::mebibytes(4)))).loads,
                readsOf(test::planned(card, configOf(knobs, kNever))).loads);
        }
    }

    void theUsefulSizeFollowsFromTheProfile() {
        plan::BoardProfile board;
        board.readLatencyNs = 100e3;
        board.readBytesPerSecond = 200e6; // t0 W / 0.02 = 1 MB
        QCOMPARE(plan::usefulReadOf(board).value, std::int64_t{512} << 10);
        QCOMPARE(plan::usefulReadOf(board, 20e6).value, std::int64_t{64} << 10);
        board.readLatencyNs = 1e9;
        QCOMPARE(plan::usefulReadOf(board), base::mebibytes(64));
        board.readLatencyNs = 0;
        QCOMPARE(plan::usefulReadOf(board), base::kibibytes(64));
        // Requests past the page cache count where they were measured.
        addSlowReads(board);
        QCOMPARE(plan::usefulReadOf(board), base::mebibytes(4));
    }
};

QTEST_GUILESS_MAIN(TestMergeReads)
#include "tst_merge_reads.moc"
