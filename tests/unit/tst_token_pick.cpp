// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <random>

#include "device_agent/engine/whisper/token_pick.h"
#include "tests/unit/tiny_vocabulary.h"

using namespace shardscope;
using namespace shardscope::test;
using engine::Picking;
using engine::TokenPick;
using tokenizer::Token;

namespace {

/// Tokens of a window from logits that are all 0 but for these.
using Peaks = std::vector<std::pair<Token, float>>;
struct Window {
    std::vector<Token> tokens;
    std::vector<bool> over;
};
Window windowOf(Picking picking, std::int64_t frames, const std::vector<Peaks>& steps) {
    TokenPick pick(vocabulary(), suppression(), picking);
    pick.beginWindow(frames);
    Window window;
    for (std::size_t step = 0; step < steps.size(); ++step) {
        std::vector<float> logits(kSize, -30.0f);
        for (const auto& [id, x] : steps[step])
            logits[static_cast<std::size_t>(id)] = x;
        pick.beginStep(static_cast<std::int32_t>(step));
        pick.take(logits.data(), 40000, 0);
        pick.take(logits.data() + 40000, logits.size() - 40000, 40000);
        window.tokens.push_back(pick.finish());
        window.over.push_back(pick.isOver());
    }
    return window;
}

} // namespace

class TestTokenPick : public QObject {
    Q_OBJECT
private slots:
    void rawTakesTheBestOfAll() {
        const auto w = windowOf(Picking::Raw, 3000, {{{kSot, 5}}, {{kEot, 5}}, {{kTime0 + 9, 5}}});
        QCOMPARE(w.tokens, (std::vector<Token>{kSot, kEot, kTime0 + 9}));
        QCOMPARE(w.over, (std::vector<bool>{false, false, false}));
    }

    void textPassesOverTimestamps() {
        const auto w = windowOf(
            Picking::Text, 3000,
            {{{kTime0, 9}, {kEot, 8}, {kSpace, 7}, {kA, 1}}, {{kTime0, 9}, {kEot, 8}, {kA, 1}}});
        QCOMPARE(w.tokens, (std::vector<Token>{kA, kEot}));
        QCOMPARE(w.over, (std::vector<bool>{false, true}));
    }

    void timestampsFollowTheirRules() {
        const auto w = windowOf(
            Picking::Timestamps, 3000,
            {{{kTime0 + 80, 9}, {kEot, 8}, {kTime0 + 3, 2}, {kA, 1}}, // 1.60 s is too late a begin
             {{kTime0 + 80, 9}, {kSot, 9}, {kA, 1}},                  // a second time is barred
             {{kTime0 + 1, 9}, {kTime0 + 80, 3}, {kA, 1}},            // no way back
             {{kA, 9}, {kTime0 + 80, 1}},                             // the pair must come
             {{kTime0 + 99, 9}, {kA, 1}},                             // no third one
             {{kEot, 9}, {kA, 1}}});
        QCOMPARE(
            w.tokens, (std::vector<Token>{kTime0 + 3, kA, kTime0 + 80, kTime0 + 80, kA, kEot}));
        QCOMPARE(w.over, (std::vector<bool>{false, false, false, false, false, true}));
    }

    void timestampsWinByTheirSum() {
        Peaks peaks{{kA, 2.0f}};
        for (Token i = 0; i < 20; ++i)
            peaks.push_back({kTime0 + 10 + i, 0.5f});
        peaks.push_back({kTime0 + 15, 0.6f});
        QCOMPARE(windowOf(Picking::Timestamps, 3000, {peaks}).tokens[0], kTime0 + 15);
        peaks[0].second = 4.0f;
        QCOMPARE(windowOf(Picking::Timestamps, 3000, {peaks}).tokens[0], kA);
    }

    void theEndOfTheAudioEndsTheText() {
        // 5.00 s of audio are left: a timestamp at 4.90 s ends the window, one at 4.88 s does not.
        for (const Token tick : {244, 245}) {
            const auto w = windowOf(Picking::Timestamps, 500, {{{kA, 9}}, {{kTime0 + tick, 9}}});
            QCOMPARE(w.over, (std::vector<bool>{false, tick == 245}));
        }
        QCOMPARE(windowOf(Picking::Timestamps, 8, {{{kTime0, 9}}}).over[0], false);
    }

    void nothingAllowedEndsTheText() {
        TokenPick pick(vocabulary(), suppression(), Picking::Timestamps);
        pick.beginWindow(3000);
        pick.beginStep(0);
        const std::vector<float> logits(kSize, NAN);
        pick.take(logits.data(), logits.size(), 0);
        QCOMPARE(pick.finish(), kEot);
        QVERIFY(pick.isOver());
    }

    void shardsChangeNoChoice() {
        std::mt19937 random(3);
        std::normal_distribution<float> normal(0, 3);
        for (const Picking picking : {Picking::Raw, Picking::Text, Picking::Timestamps}) {
            std::vector<TokenPick> picks(4, TokenPick(vocabulary(), suppression(), picking));
            const std::vector<std::size_t> sizes{kSize, 25932, 1111, 64};
            for (auto& pick : picks)
                pick.beginWindow(3000);
            for (std::int32_t step = 0; step < 25; ++step) {
                std::vector<float> logits(kSize);
                for (float& x : logits)
                    x = normal(random);
                std::vector<Token> tokens;
                for (std::size_t i = 0; i < picks.size(); ++i) {
                    picks[i].beginStep(step);
                    for (std::size_t at = 0; at < logits.size(); at += sizes[i])
                        picks[i].take(&logits[at], std::min(sizes[i], logits.size() - at), at);
                    tokens.push_back(picks[i].finish());
                }
                QCOMPARE(tokens, std::vector<Token>(tokens.size(), tokens[0]));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestTokenPick)
#include "tst_token_pick.moc"
