// SPDX-License-Identifier: GPL-3.0-or-later
// Plans in which the first window finds out the language before its prompt.
#include <QTest>

#include "plan_fixtures.h"
#include "plan_replay.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/sim/simulate.h"

using namespace shardscope;
using test::card;
using test::lineOf;

namespace {

plan::RunConfig withAuto(plan::RunConfig config) {
    config.language = "auto";
    return config;
}

std::int64_t bytesRead(const plan::Plan& plan, int windows) {
    return analyze::summarise(sim::simulate(plan, test::board(), {0, windows})).bytesRead;
}

} // namespace

class TestSettledPrompt : public QObject {
    Q_OBJECT
private slots:
    void everythingElseIsPlannedAsBefore() {
        test::Draw draw(7);
        for (int i = 0; i < 60; ++i) {
            plan::RunConfig config = draw.config();
            config.promptTokens = 0;
            draw.budget(card("tiny"), config);
            const plan::Plan given = test::planned(card("tiny"), config);
            const plan::Plan found = test::planned(card("tiny"), withAuto(config));
            QCOMPARE(found.peak.value, given.peak.value);
            QVERIFY(found.window == given.window);
            QVERIFY(found.cycles == given.cycles);
            QVERIFY(given.settle.empty() && given.settledPrefill.empty());
            QVERIFY(found.hash != given.hash);
        }
    }

    void everyStepFindsWhatItNeeds() {
        test::Draw draw(8);
        for (int i = 0; i < 60; ++i) {
            plan::RunConfig config = draw.config();
            config.promptTokens = 0;
            draw.budget(card("tiny"), config);
            const plan::Plan plan = test::planned(card("tiny"), withAuto(config));
            const std::int32_t last = plan.config.maxTokens - 1;
            const std::string wrong = test::replay(plan, {last, 0, last});
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
    }

    void readsWhatStreamsOnceMore() {
        plan::RunConfig config;
        config.maxTokens = 4;
        config.pin.kind = plan::PinChoice::Kind::None;
        const plan::Plan given = test::planned(card("tiny"), config);
        const plan::Plan found = test::planned(card("tiny"), withAuto(config));
        std::int64_t decoder = 0; // all of the decoder, and the two rows of one token
        for (const plan::Shard& shard : found.shards)
            if (shard.key.stack == model::ShardKey::Stack::Decoder ||
                shard.key.stack == model::ShardKey::Stack::Vocabulary)
                decoder += shard.bytes.value;
        for (const base::OpId op : found.graph->pass(model::PassKind::Prefill).ops)
            for (const base::TensorId table : found.graph->op(op).rowReads)
                decoder += found.card->tensor(table).bytesPerRow().value;
        for (const int windows : {1, 3})
            QCOMPARE(bytesRead(found, windows) - bytesRead(given, windows), decoder);
    }

    void readsNoPinTwice() {
        plan::RunConfig config;
        config.maxTokens = 4;
        const plan::Plan given = test::planned(card("tiny"), config);
        const plan::Plan found = test::planned(card("tiny"), withAuto(config));
        std::int64_t rows = 0;
        for (const base::OpId op : found.graph->pass(model::PassKind::Prefill).ops)
            for (const base::TensorId table : found.graph->op(op).rowReads)
                rows += found.card->tensor(table).bytesPerRow().value;
        QCOMPARE(bytesRead(found, 2) - bytesRead(given, 2), rows);
    }

    void englishModelsHaveNothingToFindOut() {
        const auto result = plan::plan(card("tiny.en"), withAuto({}), test::board());
        QVERIFY(!result.ok());
        QCOMPARE(result.error().code, base::ErrorCode::Usage);
    }

    void timesTakeAShorterPrompt() {
        plan::RunConfig config;
        config.timestamps = true;
        QCOMPARE(test::planned(card("tiny"), config).graph->promptTokens, 3);
        QCOMPARE(test::planned(card("tiny.en"), config).graph->promptTokens, 1);
    }
};

QTEST_GUILESS_MAIN(TestSettledPrompt)
#include "tst_settled_prompt.moc"
