// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "device_agent/engine/tokenizer/timestamp_rules.h"

using namespace shardscope;
using namespace shardscope::tokenizer;

namespace {

constexpr Token kEot = 50257, kTime0 = 50364, kSize = 51865; // multilingual, 99 languages
constexpr TokenRange kText{0, kEot + 1}, kEotAlone{kEot, kEot + 1};
constexpr TokenRange kNoTime{kSize, kSize};

const Vocabulary& vocabulary() {
    static const Vocabulary v = [] {
        static const char kList[] = "\x01\0\0\0\x01\0\0\0a";
        auto read =
            Vocabulary::read(std::as_bytes(std::span(kList, sizeof kList - 1)), kSize, "", 0);
        if (!read)
            qFatal("%s", read.error().line().c_str());
        return std::move(read).value();
    }();
    return v;
}

AllowedTokens allowedAfter(const std::vector<Token>& tokens) {
    TimestampHistory history(vocabulary());
    for (const Token id : tokens)
        history.add(id);
    return history.next();
}

/// Logits as a random model gives them: text of one spread, timestamps shifted against it.
std::vector<float> randomLogits(std::mt19937& random, float shift) {
    std::normal_distribution<float> normal(0, 3);
    std::vector<float> logits(kSize);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = normal(random) + (i >= kTime0 ? shift : 0);
    return logits;
}

/// A greedy step over shards that end at `cuts` (the last is kSize).
struct Step {
    std::optional<Token> token;
    double logSum = 0;
};
Step stepOver(
    const std::vector<float>& logits, const AllowedTokens& allowed,
    const std::vector<Token>& cuts) {
    BestText text;
    TimestampSum sum;
    Token first = 0;
    for (const Token end : cuts) {
        for (Token id = std::max(first, allowed.text.begin); id < std::min(end, allowed.text.end);
             ++id)
            if (const float x = logits[static_cast<std::size_t>(id)]; !text.id || x > text.logit)
                text = {id, x};
        const Token from = std::max(first, allowed.timestamps.begin);
        const Token to = std::min(end, allowed.timestamps.end);
        if (from < to)
            sum.take(
                &logits[static_cast<std::size_t>(from)], static_cast<std::size_t>(to - from), from);
        first = end;
    }
    return {chooseToken(text, sum), sum.logSum()};
}

std::vector<Token> evenCuts(int shards) {
    std::vector<Token> cuts;
    const Token rows = (kSize + shards - 1) / shards;
    for (Token end = rows; end < kSize; end += rows)
        cuts.push_back(end);
    cuts.push_back(kSize);
    return cuts;
}

/// The rule in its plain form, over all logits at once.
std::optional<Token> plainChoice(const std::vector<float>& logits, const AllowedTokens& allowed) {
    std::optional<Token> text, time;
    double most = -INFINITY, sum = 0;
    const auto at = [&](Token id) { return double{logits[static_cast<std::size_t>(id)]}; };
    for (Token id = allowed.text.begin; id < allowed.text.end; ++id)
        if (!text || at(id) > at(*text))
            text = id;
    for (Token id = allowed.timestamps.begin; id < allowed.timestamps.end; ++id)
        if (!time || at(id) > at(*time))
            time = id, most = at(id);
    for (Token id = allowed.timestamps.begin; id < allowed.timestamps.end; ++id)
        sum += std::exp(at(id) - most);
    if (!text || (time && most + std::log(sum) > at(*text)))
        return time;
    return text;
}

} // namespace

class TestTimestampRules : public QObject {
    Q_OBJECT
private slots:
    void allowsWhatMayFollow_data() {
        QTest::addColumn<std::vector<Token>>("tokens");
        QTest::addColumn<AllowedTokens>("allowed");
        const auto time = [](Token ticks) { return kTime0 + ticks; };
        const auto from = [&](Token ticks) { return TokenRange{time(ticks), kSize}; };
        const auto row = [](const char* name, std::vector<Token> tokens, AllowedTokens allowed) {
            QTest::newRow(name) << std::move(tokens) << allowed;
        };
        row("first: at most one second", {}, {kText, {kTime0, time(51)}});
        row("after a first timestamp: no second one", {time(10)}, {kText, kNoTime});
        row("after 0.00 as the first: no second one", {time(0)}, {kText, kNoTime});
        row("after text without a time: any time", {1}, {kText, from(0)});
        row("within a segment: no earlier time", {time(10), 1}, {kText, from(10)});
        row("after the end of a segment: its pair or the end of text", {time(10), 1, time(99)},
            {kEotAlone, from(99)});
        row("after a pair: text", {time(10), 1, time(99), time(99)}, {kText, kNoTime});
        row("after a pair that jumps: text", {time(10), 1, time(99), time(500)}, {kText, kNoTime});
        row("within the second segment", {time(10), 1, time(99), time(500), 2}, {kText, from(500)});
        row("text, then 0.00: the pair, from the begin", {1, time(0)}, {kEotAlone, from(0)});
        row("0.00 and text: any time", {time(0), 1}, {kText, from(0)});
        row("text, then the last time", {1, kSize - 1}, {kEotAlone, {kSize - 1, kSize}});
    }
    void allowsWhatMayFollow() {
        QFETCH(std::vector<Token>, tokens);
        QFETCH(AllowedTokens, allowed);
        QCOMPARE(allowedAfter(tokens), allowed);
    }

    void startsAnewWithEachWindow() {
        TimestampHistory history(vocabulary());
        for (const Token id : {kTime0 + 5, 1, kTime0 + 900})
            history.add(id);
        QCOMPARE(*history.lastTick(), 900);
        history.clear();
        QVERIFY(!history.lastTick());
        QCOMPARE(history.next(), allowedAfter({}));
    }

    void zeroSecondsCloseNothing() {
        TimestampHistory history(vocabulary());
        history.add(kTime0);
        QVERIFY(!history.lastTick());
    }

    void timestampsWinTogether() {
        // Each timestamp is less probable than the text token, all of them together are not.
        std::vector<float> times(100, 1.0f);
        times[40] = 1.5f;
        TimestampSum sum;
        sum.take(times.data(), times.size(), kTime0);
        QCOMPARE(*chooseToken({Token{7}, 3.0f}, sum), kTime0 + 40);
        QCOMPARE(*chooseToken({Token{7}, 6.0f}, sum), 7);
        QCOMPARE(*chooseToken({}, sum), kTime0 + 40);
    }

    void oneTimestampMustBeAboveTheText() {
        const float x = 2.0f;
        TimestampSum sum;
        sum.take(&x, 1, kTime0);
        QCOMPARE(*chooseToken({Token{7}, 2.0f}, sum), 7);
        QCOMPARE(*chooseToken({Token{7}, 1.999f}, sum), kTime0);
    }

    void numbersThatAreNoneAreNeverChosen() {
        const float values[] = {NAN, -INFINITY, 1.0f, NAN};
        TimestampSum sum;
        sum.take(values, 4, kTime0);
        QCOMPARE(*sum.best(), kTime0 + 2);
        QCOMPARE(sum.logSum(), 1.0);
        QVERIFY(!chooseToken({}, TimestampSum()));
        QVERIFY(std::isinf(TimestampSum().logSum()));
    }

    void shardsChangeNoBitOfADecision() {
        std::mt19937 random(1);
        const std::vector<std::vector<Token>> cuts{
            {kSize}, evenCuts(2), evenCuts(7), evenCuts(33), evenCuts(3241)};
        const std::vector<std::vector<Token>> histories{
            {}, {kTime0 + 3}, {1}, {kTime0, 2}, {kTime0 + 3, 2, kTime0 + 90}};
        for (int i = 0; i < 12; ++i) {
            const auto logits = randomLogits(random, 0.2f * static_cast<float>(i));
            for (const auto& history : histories) {
                const AllowedTokens allowed = allowedAfter(history);
                const Step whole = stepOver(logits, allowed, cuts[0]);
                QCOMPARE(whole.token, plainChoice(logits, allowed));
                for (const auto& shards : cuts) {
                    const Step step = stepOver(logits, allowed, shards);
                    QCOMPARE(step.token, whole.token);
                    QVERIFY(
                        std::bit_cast<std::uint64_t>(step.logSum) ==
                        std::bit_cast<std::uint64_t>(whole.logSum));
                }
            }
        }
    }

    /// Whatever the logits: pairs, never back in time, a begin within the first second.
    void greedyWalksKeepTheRules() {
        std::mt19937 random(2);
        int times = 0;
        for (int walk = 0; walk < 20; ++walk) {
            TimestampHistory history(vocabulary());
            std::vector<Token> tokens;
            for (int i = 0; i < 12; ++i) {
                const auto logits = randomLogits(random, 0.15f * static_cast<float>(walk));
                const auto id = stepOver(logits, history.next(), evenCuts(5)).token;
                QVERIFY(id.has_value());
                history.add(*id);
                tokens.push_back(*id);
            }
            QVERIFY(tokens[0] < kTime0 || tokens[0] <= kTime0 + kMostInitialTicks);
            Token latest = 0;
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                const bool isTime = tokens[i] >= kTime0;
                times += isTime;
                QVERIFY(isTime || tokens[i] <= kEot);
                if (!isTime)
                    continue;
                QVERIFY(tokens[i] >= latest);
                latest = tokens[i] > kTime0 ? tokens[i] : latest;
                const bool before = i > 0 && tokens[i - 1] >= kTime0;
                const bool beforeThat = i > 1 && tokens[i - 2] >= kTime0;
                QVERIFY(!before || (i > 1 && !beforeThat));
                if (i + 1 < tokens.size() && !before && i > 0)
                    QVERIFY(tokens[i + 1] >= kEot);
            }
        }
        QVERIFY(times > 40); // the walks did come by some
    }
};

QTEST_GUILESS_MAIN(TestTimestampRules)
#include "tst_timestamp_rules.moc"
