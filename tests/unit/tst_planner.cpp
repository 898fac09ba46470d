// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>

#include "plan_fixtures.h"
#include "plan_replay.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"

using namespace shardscope;
using base::Bytes;
using plan::Plan;
using plan::Policy;
using plan::RunConfig;
using plan::Step;
using plan::StepKind;

namespace {

/// For messages: every knob that is not at its default.
std::string flagsOf(const RunConfig& config) {
    std::string text;
    for (const plan::Knob& knob : plan::knobs())
        if (knob.print(config) != knob.print(RunConfig()))
            text += std::string(knob.flag) + " " + knob.print(config) + " ";
    if (config.promptTokens > 0)
        text += "prompt of " + std::to_string(config.promptTokens);
    return text;
}

Bytes loadBytes(const Plan& plan, const std::vector<Step>& steps) {
    Bytes sum;
    for (const Step& s : steps)
        if (s.kind == StepKind::Load)
            sum += plan.shards[s.id].bytes;
    return sum;
}

std::size_t loads(const std::vector<Step>& steps) {
    return static_cast<std::size_t>(std::count_if(
        steps.begin(), steps.end(), [](auto& s) { return s.kind == StepKind::Load; }));
}

bool streams(const Plan& plan) {
    return std::any_of(
        plan.shards.begin(), plan.shards.end(), [](const plan::Shard& s) { return !s.pinned; });
}

void addCards(std::initializer_list<const char*> names) {
    QTest::addColumn<QString>("name");
    for (const char* name : names)
        QTest::newRow(name) << name;
}

test::Card fetchedCard() {
    QFETCH(QString, name);
    return test::card(name.toStdString());
}

/// Sets what a line like "--budget 21MiB fits these settings; the least is ..." proposes.
std::vector<RunConfig> proposals(const std::string& nearest, const RunConfig& config) {
    std::vector<RunConfig> all;
    std::istringstream words(nearest);
    RunConfig* current = nullptr;
    bool isNew = true;
    for (std::string word, value; words >> word; isNew = isNew || word.ends_with(';')) {
        if (!word.starts_with("--"))
            continue;
        if (isNew)
            current = &all.emplace_back(config);
        isNew = false;
        words >> value;
        if (!plan::setKnob(*current, word, value))
            qFatal("no such flag: %s %s", word.c_str(), value.c_str());
    }
    return all;
}

} // namespace

class TestPlanner : public QObject {
    Q_OBJECT

private slots:
    void anyConfigurationKeepsEveryPromise_data() {
        addCards({"sample", "tiny.en", "base", "small", "large-v3"});
    }
    void anyConfigurationKeepsEveryPromise();
    void batchesAndFoundLanguagesKeepThemToo_data() { addCards({"tiny", "base", "large-v3"}); }
    void batchesAndFoundLanguagesKeepThemToo();
    void whatFitsIsNotStreamed_data() { anyConfigurationKeepsEveryPromise_data(); }
    void whatFitsIsNotStreamed();
    void whatDoesNotFitNamesWhatFits_data() { anyConfigurationKeepsEveryPromise_data(); }
    void whatDoesNotFitNamesWhatFits();
    void aLargerBudgetNeverStreamsMore_data() { anyConfigurationKeepsEveryPromise_data(); }
    void aLargerBudgetNeverStreamsMore();
    void aTightBudgetTakesLessWorkingSpace_data() { anyConfigurationKeepsEveryPromise_data(); }
    void aTightBudgetTakesLessWorkingSpace();
    void pinsBypassTheCycle();
    void theLastStepReadsNothingAhead();
    void streamedPerTokenIsTheMeanOfTheSteps();
    void stepsRepeatInFewCycles();
    void equalInputsGiveEqualPlans();
    void everyKnobThatChangesThePlanChangesItsHash();
    void tokensEndWhereTheModelEnds();
    void impossibleOptionsAreUsageErrors_data();
    void impossibleOptionsAreUsageErrors();
    void aFamilyThatNobodyKnowsIsBadInput();
    void everyReasonHasASentence();
    void theLegendNamesEverything();
};

void TestPlanner::anyConfigurationKeepsEveryPromise() {
    const auto card = fetchedCard();
    const bool large = card->weightBytes() > base::mebibytes(400);
    test::Draw draw(20261129);
    for (int i = 0; i < (large ? 40 : 200); ++i) {
        RunConfig config = draw.config();
        draw.budget(card, config);
        const std::string flags = flagsOf(config);
        const auto result = plan::planOrError(card, config, test::board());
        QVERIFY2(result.ok(), (flags + test::lineOf(result)).c_str());
        const Plan& p = *result;
        QCOMPARE(p.cycleOfStep.size(), static_cast<std::size_t>(config.maxTokens) - 1);
        for (const std::string& wrong : {test::checkMap(p), test::checkShards(p)})
            QVERIFY2(wrong.empty(), (flags + wrong).c_str());
        const std::int32_t last = config.maxTokens - 1;
        const std::string wrong =
            test::replay(p, {draw.below(last + 1), last, draw.below(last + 1), last});
        QVERIFY2(wrong.empty(), (flags + ": " + wrong).c_str());
    }
}

void TestPlanner::batchesAndFoundLanguagesKeepThemToo() {
    const auto card = fetchedCard();
    test::Draw draw(9);
    for (int i = 0; i < (card->weightBytes() > base::mebibytes(400) ? 30 : 150); ++i) {
        RunConfig config = draw.batchConfig();
        draw.budget(card, config);
        const std::string flags = flagsOf(config);
        const auto result = plan::planOrError(card, config, test::board());
        QVERIFY2(result.ok(), (flags + test::lineOf(result)).c_str());
        const Plan& p = *result;
        for (const std::string& wrong : {test::checkMap(p), test::checkShards(p)})
            QVERIFY2(wrong.empty(), (flags + wrong).c_str());
        const std::int32_t last = p.config.maxTokens - 1;
        const std::string wrong = test::replay(p, {draw.below(last + 1), last, last});
        QVERIFY2(wrong.empty(), (flags + ": " + wrong).c_str());
    }
}

void TestPlanner::whatFitsIsNotStreamed() {
    const auto card = fetchedCard();
    test::Draw draw(2);
    for (int i = 0; i < 10; ++i) {
        RunConfig config = draw.config();
        const Bytes whole = test::wholePeak(card, config);
        for (const bool hasBudget : {false, true}) {
            if (hasBudget)
                config.budget = whole;
            const Plan p = test::planned(card, config);
            QVERIFY2(!streams(p), flagsOf(config).c_str());
            QCOMPARE(p.streamedPerToken.value, 0);
            QCOMPARE(p.peak, whole);
            for (const auto& cycle : p.cycles)
                QCOMPARE(loads(cycle), std::size_t{0});
        }
    }
}

void TestPlanner::whatDoesNotFitNamesWhatFits() {
    const auto card = fetchedCard();
    test::Draw draw(3);
    std::size_t proposed = 0;
    for (int i = 0; i < 40; ++i) {
        RunConfig config = draw.config();
        config.pin.kind = draw.of(
            {plan::PinChoice::Kind::Auto, plan::PinChoice::Kind::All, plan::PinChoice::Kind::None});
        const Bytes whole = test::leastBudget(card, config, plan::PinChoice::Kind::All);
        const Bytes least = config.pin.kind == plan::PinChoice::Kind::All ? whole
                            : config.pin.kind == plan::PinChoice::Kind::None
                                ? test::streamingPeak(card, config)
                                : std::min(test::streamingPeak(card, config), whole);
        config.budget = Bytes(std::max<std::int64_t>(1, (least.value - 1) * (i % 20 + 1) / 20));
        const auto result = plan::plan(card, config, test::board());
        QVERIFY(result.ok());
        const auto* why = std::get_if<plan::Infeasible>(&*result);
        QVERIFY2(why, flagsOf(config).c_str());
        QCOMPARE(why->allowed, *config.budget);
        QVERIFY(why->needed > why->allowed);
        QCOMPARE(why->error().code, base::ErrorCode::DoesNotFit);
        const auto options = proposals(why->nearest, config);
        QVERIFY2(!options.empty(), why->nearest.c_str());
        for (const RunConfig& option : options) {
            const auto fits = plan::planOrError(card, option, test::board());
            QVERIFY2(
                fits.ok(),
                (flagsOf(config) + ": " + why->nearest + ": " + test::lineOf(fits)).c_str());
            ++proposed;
        }
    }
    QVERIFY(proposed > 40);
}

void TestPlanner::aLargerBudgetNeverStreamsMore() {
    const auto card = fetchedCard();
    test::Draw draw(4);
    for (int i = 0; i < 12; ++i) {
        RunConfig config = draw.config();
        config.maxTokens = 9;
        if (config.policy == Policy::Random)
            config.policy = Policy::Pin; // of chance no order can be asked
        const std::int64_t least = test::streamingPeak(card, config).value;
        const std::int64_t whole = test::wholePeak(card, config).value;
        Bytes before(INT64_MAX);
        for (std::int64_t k = 0; k <= 30 && whole > least; ++k) {
            config.budget = Bytes(least + (whole - least) * k / 30);
            const Plan p = test::planned(card, config);
            QVERIFY2(p.streamedPerToken <= before, flagsOf(config).c_str());
            before = p.streamedPerToken;
        }
    }
}

/// Time gives way before the knobs do: the least budget is below what the fastest way needs, and no
/// cache and no slot is smaller for it.
void TestPlanner::aTightBudgetTakesLessWorkingSpace() {
    const auto card = fetchedCard();
    RunConfig config;
    config.encoderShard = config.decoderShard = {model::Granularity::Kind::Tensor, 1};
    config.crossKv = model::KvType::Shared; // else the caches decide about large models
    config.maxTokens = 8;
    config.slotCount = 1;
    config.pin.kind = plan::PinChoice::Kind::None;
    const Plan ample = test::planned(card, config);
    config.budget = test::streamingPeak(card, config);
    const Plan tight = test::planned(card, config);
    QVERIFY(tight.peak < ample.peak);
    QCOMPARE(tight.peak, *config.budget);
    QCOMPARE(tight.crossKvBytes, ample.crossKvBytes);
    QCOMPARE(tight.selfKvBytes, ample.selfKvBytes);
    QCOMPARE(tight.streamedPerToken, ample.streamedPerToken);

    config.pin.kind = plan::PinChoice::Kind::All;
    config.budget = test::leastBudget(card, config, plan::PinChoice::Kind::All);
    QVERIFY(*config.budget < test::wholePeak(card, config));
    QVERIFY(!streams(test::planned(card, config)));

    config.pin.kind = plan::PinChoice::Kind::None;
    for (const std::int32_t positions : {1, 5, 31, 33}) { // less than a tile, and a little more
        config.audioCtx = positions;
        config.budget = test::streamingPeak(card, config);
        QCOMPARE(test::planned(card, config).peak, *config.budget);
    }
}

/// C of N shards pinned hit C/N: a step reads the N - C others, once each, and no pinned one.
void TestPlanner::pinsBypassTheCycle() {
    RunConfig config;
    config.decoderShard = {model::Granularity::Kind::Sublayer, 1};
    const auto card = test::card("base");
    const std::int64_t least = test::streamingPeak(card, config).value;
    const std::int64_t whole = test::wholePeak(card, config).value;
    for (int k = 0; k <= 20; ++k) {
        config.budget = Bytes(least + (whole - least) * k / 21);
        const Plan p = test::planned(card, config);
        std::size_t others = 0, pinned = 0;
        for (const plan::Shard& s : p.shards)
            if (s.key.stack == model::ShardKey::Stack::Decoder ||
                s.key.stack == model::ShardKey::Stack::Vocabulary)
                ++(s.pinned ? pinned : others);
        QVERIFY(k < 8 || pinned > 0);
        // Two that stream through two slots stay in them.
        QCOMPARE(loads(p.stepsOf(100)), others <= 2 ? std::size_t{0} : others);
    }
}

void TestPlanner::theLastStepReadsNothingAhead() {
    test::Draw draw(5);
    for (int i = 0; i < 60; ++i) {
        const auto card = test::card(draw.of({"sample", "tiny.en"}));
        RunConfig config = draw.config();
        config.maxTokens = draw.of({1, 2, 5, 40});
        draw.budget(card, config);
        const Plan p = test::planned(card, config);
        // What the last list of steps loads is used by it after the load.
        const auto& steps = p.cycleOfStep.empty() ? p.window : p.stepsOf(config.maxTokens - 1);
        for (std::size_t at = 0; at < steps.size(); ++at) {
            if (steps[at].kind != StepKind::Load)
                continue;
            const auto used = std::any_of(
                steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end(), [&](auto& s) {
                    return s.kind == StepKind::Compute &&
                           p.shardOfOp[s.id] == base::ShardId(steps[at].id);
                });
            const bool isTable = p.shards[steps[at].id].key.stack == model::ShardKey::Stack::Rows;
            QVERIFY2(used || isTable, (flagsOf(config) + p.shards[steps[at].id].name).c_str());
        }
    }
}

void TestPlanner::streamedPerTokenIsTheMeanOfTheSteps() {
    test::Draw draw(6);
    for (int i = 0; i < 60; ++i) {
        const auto card = test::card(draw.of({"sample", "tiny.en"}));
        RunConfig config = draw.config();
        config.maxTokens = draw.of({4, 5, 40});
        draw.budget(card, config);
        const Plan p = test::planned(card, config);
        // The first step still finds what prefill read ahead, the last reads nothing ahead.
        Bytes sum;
        for (std::int32_t step = 2; step < config.maxTokens - 1; ++step)
            sum += loadBytes(p, p.stepsOf(step));
        Bytes rows;
        for (const base::OpId op : p.graph->pass(model::PassKind::Decode).ops)
            for (const base::TensorId tensor : p.graph->op(op).rowReads)
                rows += p.rowReadBytes(tensor);
        QCOMPARE(p.streamedPerToken, rows + Bytes(sum.value / (config.maxTokens - 3)));
    }
}

void TestPlanner::stepsRepeatInFewCycles() {
    test::Draw draw(7);
    for (int i = 0; i < 60; ++i) {
        const auto card = test::card("tiny.en");
        RunConfig config = draw.config();
        config.maxTokens = 224;
        draw.budget(card, config);
        const Plan p = test::planned(card, config);
        // A step that reads n shards into c slots turns the slots on by n: at most c different
        // ones.
        const auto places =
            static_cast<std::size_t>(std::count_if(p.blocks.begin(), p.blocks.end(), [](auto& b) {
                return b.name.starts_with("decoder slot");
            }));
        if (config.policy == Policy::Pin || config.policy == Policy::Lru)
            QVERIFY2(p.cycles.size() <= places + 3, flagsOf(config).c_str());
        for (const std::uint32_t cycle : p.cycleOfStep)
            QVERIFY(cycle < p.cycles.size());
        const std::string wrong = test::replay(p, {223});
        QVERIFY2(wrong.empty(), (flagsOf(config) + wrong).c_str());
    }
}

void TestPlanner::equalInputsGiveEqualPlans() {
    test::Draw draw(8);
    for (int i = 0; i < 20; ++i) {
        RunConfig config = draw.config();
        draw.budget(test::card("tiny.en"), config);
        const Plan x = test::planned(test::card("tiny.en"), config);
        const Plan y = test::planned(test::card("tiny.en"), config);
        QCOMPARE(x.hash, y.hash);
        QVERIFY(x.window == y.window && x.cycles == y.cycles && x.cycleOfStep == y.cycleOfStep);
        QCOMPARE(x.hashText().size(), std::size_t{16});
    }
}

void TestPlanner::everyKnobThatChangesThePlanChangesItsHash() {
    RunConfig tight;
    tight.budget = base::mebibytes(40);
    std::set<std::uint64_t> hashes{test::planned(test::card("tiny.en"), tight).hash};
    std::size_t variants = 1;
    for (const auto& [flag, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"--budget", "45MiB"},
             {"--encoder-shard", "2"},
             {"--decoder-shard", "sublayer"},
             {"--vocab-shards", "40"},
             {"--pin", "none"},
             {"--policy", "lru"},
             {"--policy", "belady"},
             {"--policy", "random"},
             {"--slots", "3"},
             {"--kv", "q8"},
             {"--cross-kv", "q8"},
             {"--cross-kv", "shared"},
             {"--cross-keep", "0.5"},
             {"--threads", "2"},
             {"--max-tokens", "100"},
             {"--audio-ctx", "700"}}) {
        RunConfig config = tight;
        QVERIFY(plan::setKnob(config, flag, value).ok());
        QVERIFY2(hashes.insert(test::planned(test::card("tiny.en"), config).hash).second, flag);
        ++variants;
    }
    for (const char* name : {"tiny", "base", "sample"})
        QVERIFY(hashes.insert(test::planned(test::card(name), RunConfig()).hash).second);
    QCOMPARE(hashes.size(), variants + 3);
    RunConfig spoken;
    hashes.clear();
    for (const auto& [flag, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"--language", "en"}, {"--language", "auto"}, {"--batch", "2"}}) {
        RunConfig config = spoken;
        QVERIFY(plan::setKnob(config, flag, value).ok());
        QVERIFY2(hashes.insert(test::planned(test::card("tiny"), config).hash).second, flag);
    }
    hashes = {test::planned(test::card("tiny.en"), tight).hash};
    // What only the executor minds leaves the plan as it is.
    RunConfig same = tight;
    QVERIFY(plan::setKnob(same, "--loader", "mmap").ok());
    QVERIFY(plan::setKnob(same, "--emulate-read", "5MB/s").ok());
    QVERIFY(plan::setKnob(same, "--language", "de").ok());
    QVERIFY(!hashes.insert(test::planned(test::card("tiny.en"), same).hash).second);
}

void TestPlanner::tokensEndWhereTheModelEnds() {
    RunConfig config;
    config.maxTokens = 4096;
    const Plan p = test::planned(test::card("tiny.en"), config);
    // The last step works on the last of 448 positions.
    QCOMPARE(p.graph->promptTokens + p.config.maxTokens - 1, 448);
    QCOMPARE(p.cycleOfStep.size(), static_cast<std::size_t>(p.config.maxTokens) - 1);
}

void TestPlanner::impossibleOptionsAreUsageErrors_data() {
    QTest::addColumn<QString>("flag");
    QTest::addColumn<QString>("value");
    QTest::newRow("audio context beyond the model") << "--audio-ctx"
                                                    << "1501";
    QTest::newRow("more vocabulary shards than sixteenths") << "--vocab-shards"
                                                            << "8000";
}

void TestPlanner::impossibleOptionsAreUsageErrors() {
    QFETCH(QString, flag);
    QFETCH(QString, value);
    RunConfig config;
    QVERIFY(plan::setKnob(config, flag.toStdString(), value.toStdString()).ok());
    const auto result = plan::plan(test::card("tiny.en"), config, test::board());
    QVERIFY(!result.ok());
    QCOMPARE(result.error().code, base::ErrorCode::Usage);
    QVERIFY(!result.error().what.empty() && !result.error().mend.empty());
}

void TestPlanner::aFamilyThatNobodyKnowsIsBadInput() {
    auto other = std::make_shared<model::ModelCard>(*test::card("tiny.en"));
    other->family = "parakeet";
    auto result = plan::plan(other, {}, test::board());
    QVERIFY(!result.ok());
    QCOMPARE(result.error().code, base::ErrorCode::BadInput);
    *other = *test::card("tiny.en");
    other->tensors.pop_back();
    result = plan::plan(other, {}, test::board());
    QVERIFY(!result.ok());
    QCOMPARE(result.error().code, base::ErrorCode::BadInput);
}

void TestPlanner::everyReasonHasASentence() {
    std::set<std::string_view> texts;
    for (std::size_t i = 0; i < plan::kReasonCount; ++i)
        texts.insert(plan::reasonText(static_cast<plan::Reason>(i)));
    QCOMPARE(texts.size(), plan::kReasonCount);
    QVERIFY(!plan::reasonText(static_cast<plan::Reason>(9999)).empty());
}

void TestPlanner::theLegendNamesEverything() {
    RunConfig config;
    config.budget = base::mebibytes(40);
    const Plan p = test::planned(test::card("tiny.en"), config);
    const trace::Legend legend = plan::legendOf(p);
    QCOMPARE(legend.ops.size(), p.graph->ops.size());
    QCOMPARE(legend.shards.size(), p.shards.size());
    QCOMPARE(legend.buffers.size(), p.graph->buffers.size());
    QCOMPARE(legend.peak, p.peak);
    QCOMPARE(legend.budget, base::mebibytes(40));
    QCOMPARE(legend.planHash, p.hashText());
    std::set<std::string> names;
    for (const auto& op : legend.ops)
        QVERIFY2(!op.name.empty() && names.insert(op.name).second, op.name.c_str());
    names.clear();
    for (const auto& shard : legend.shards)
        QVERIFY2(!shard.name.empty() && names.insert(shard.name).second, shard.name.c_str());
}

QTEST_GUILESS_MAIN(TestPlanner)
#include "tst_planner.moc"
