// SPDX-License-Identifier: GPL-3.0-or-later
// The beam search against a plain one that keeps whole texts and whole rows of probabilities, over
// language models that are nothing but a hash of the text so far.
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

#include "device_agent/engine/whisper/beam_search.h"
#include "tests/unit/plain_beam_search.h"

using namespace shardscope;
using namespace shardscope::test;
using engine::BeamSearch;

namespace {

constexpr std::size_t kPrompt = 3;

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// A few likely tokens after each text, some of them timestamps and the end, and noise.
Model randomModel(std::uint64_t seed, float eotLogit, Token words = 50000) {
    return [=](const Text& text) {
        std::uint64_t state = seed;
        for (const Token t : text)
            state = mixed(state + static_cast<std::uint64_t>(t) + 1);
        Logits logits(kSize);
        for (std::size_t i = 0; i < logits.size(); ++i)
            logits[i] = static_cast<float>(mixed(state + i * 77) % 1000) * 1e-3f - 4;
        for (std::uint64_t i = 0; i < 12; ++i) {
            const std::uint64_t z = mixed(state ^ (i + 1) << 40);
            const auto id = static_cast<Token>(z % static_cast<std::uint64_t>(words));
            logits[static_cast<std::size_t>(id)] = 6 + static_cast<float>(z >> 40 & 1023) / 300;
            const Token time = kTime0 + static_cast<Token>(z >> 20 & 1023);
            logits[static_cast<std::size_t>(time)] = 3 + static_cast<float>(z >> 50 & 1023) / 250;
        }
        logits[kEot] = eotLogit + static_cast<float>(mixed(state) % 1000) / 300;
        return logits;
    };
}

/// Runs the search as the engine does: what a beam has said is read from the rows that it sees.
Text searched(
    BeamSearch& search, const Model& model, std::int32_t most, Token frames, std::size_t cut,
    std::int32_t* steps = nullptr) {
    std::vector<std::array<Token, 128>> rows(plan::kMostBeams);
    const auto feed = [&](std::size_t beam, const Text& text) {
        const Logits logits = model(text);
        for (std::size_t at = 0; at < logits.size(); at += cut)
            search.take(beam, &logits[at], std::min(cut, logits.size() - at), at);
    };
    search.beginWindow(frames, kPrompt);
    std::int32_t step = 0;
    for (; step < most; ++step) {
        const auto beams = static_cast<std::size_t>(search.beams());
        for (std::size_t beam = 0; step > 0 && beam < beams; ++beam)
            rows[search.slotOf(beam)][kPrompt + static_cast<std::size_t>(step) - 1] =
                search.lastToken(beam);
        search.beginStep(step);
        for (std::size_t beam = 0; beam < beams; ++beam) {
            Text text;
            for (std::size_t p = kPrompt; p < kPrompt + static_cast<std::size_t>(step); ++p)
                text.push_back(rows[search.rowsOf(beam)[p]][p]);
            feed(beam, text);
        }
        if (search.finishStep() == 0)
            break;
    }
    if (steps)
        *steps = step + 1;
    const auto tokens = search.tokens();
    return {tokens.begin(), tokens.end()};
}

} // namespace

class TestBeamSearch : public QObject {
    Q_OBJECT
private slots:
    void findsWhatAPlainSearchFinds_data() {
        QTest::addColumn<int>("picking");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("most");
        QTest::addColumn<float>("eot");
        for (const int width : {1, 2, 3, 5, 8}) {
            QTest::addRow("text, %d", width) << int(Picking::Text) << width << 14 << 4.0f;
            QTest::addRow("text that ends late, %d", width)
                << int(Picking::Text) << width << 9 << 0.0f;
            QTest::addRow("timestamps, %d", width)
                << int(Picking::Timestamps) << width << 14 << 4.0f;
            QTest::addRow("raw, %d", width) << int(Picking::Raw) << width << 7 << 4.0f;
        }
    }
    void findsWhatAPlainSearchFinds() {
        QFETCH(int, picking);
        QFETCH(int, width);
        QFETCH(int, most);
        QFETCH(float, eot);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const Model model = randomModel(seed, eot);
            BeamSearch search = searchOf(static_cast<Picking>(picking), width, most);
            QCOMPARE(
                searched(search, model, most, 3000, 9999),
                (PlainSearch{
                    static_cast<Picking>(picking), static_cast<std::size_t>(width),
                    static_cast<std::size_t>(most)}
                     .run(model)));
        }
    }

    void oneBeamIsGreedy() {
        for (const Picking picking : {Picking::Text, Picking::Timestamps, Picking::Raw})
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                const Model model = randomModel(seed, 3);
                engine::TokenPick pick(vocabulary(), suppression(), picking);
                pick.beginWindow(1200);
                Text greedy;
                for (std::int32_t step = 0; step < 20 && !pick.isOver(); ++step) {
                    const Logits logits = model(greedy);
                    pick.beginStep(step);
                    pick.take(logits.data(), logits.size(), 0);
                    greedy.push_back(pick.finish());
                }
                BeamSearch search = searchOf(picking, 1, 20);
                QCOMPARE(searched(search, model, 20, 1200, 777), greedy);
            }
    }

    void whereTheVocabularyIsCutChangesNothing() {
        for (const Picking picking : {Picking::Text, Picking::Timestamps}) {
            const Model model = randomModel(7, 4);
            BeamSearch search = searchOf(picking, 4, 8);
            const Text whole = searched(search, model, 8, 3000, kSize);
            for (const std::size_t cut : {std::size_t{1}, std::size_t{100}, std::size_t{25932}})
                QCOMPARE(searched(search, model, 8, 3000, cut), whole);
        }
    }

    void whatRepeatsItselfLoses_data() {
        QTest::addColumn<std::size_t>("words");
        QTest::addColumn<bool>("loses");
        QTest::newRow("a few times") << std::size_t{20} << false;
        QTest::newRow("over and over") << std::size_t{40} << true;
    }
    void whatRepeatsItselfLoses() {
        QFETCH(std::size_t, words);
        QFETCH(bool, loses);
        // One word again and again, each time certain, or another one, less likely, and the end.
        const Model model = [words](const Text& text) {
            Logits logits(kSize, -20.0f);
            if (text.empty())
                logits[2] = 5, logits[3] = 4;
            else if (text[0] == 2 && text.size() < words)
                logits[2] = 5;
            else
                logits[kEot] = 5;
            return logits;
        };
        const Text often = [&] {
            Text text(words, 2);
            text.push_back(kEot);
            return text;
        }();
        BeamSearch search = searchOf(Picking::Text, 2, 60);
        const Text found = searched(search, model, 60, 3000, 9999);
        QCOMPARE(found, (loses ? Text{3, kEot} : often));
        QCOMPARE(found, (PlainSearch{Picking::Text, 2, 60}.run(model)));
    }

    void longTextsAreRankedByTheirEntropy() {
        // Five words over and over are likely, and end at any time.
        const Model model = randomModel(3, 1, 5);
        for (const int width : {2, 4}) {
            BeamSearch search = searchOf(Picking::Text, width, 45);
            QCOMPARE(
                searched(search, model, 45, 3000, 9999),
                (PlainSearch{Picking::Text, static_cast<std::size_t>(width), 45}.run(model)));
        }
    }

    void stopsWhenNoBeamCanWinAnyMore() {
        // One certain word and the end against words that are all the same: the others could go on
        // to the last token, and could not come near.
        const Model model = [](const Text& text) {
            Logits logits(kSize, -20.0f);
            if (text.empty())
                logits[7] = 5;
            else if (text == Text{7})
                logits[kEot] = 5;
            return logits;
        };
        BeamSearch search = searchOf(Picking::Text, 4, 60);
        std::int32_t steps = 0;
        QCOMPARE(searched(search, model, 60, 3000, 9999, &steps), (Text{7, kEot}));
        QVERIFY2(steps < 60, qPrintable(QString::number(steps)));
    }

    void aWindowForgetsTheOneBefore() {
        const Model first = randomModel(1, 4), second = randomModel(2, 4);
        BeamSearch used = searchOf(Picking::Timestamps, 5, 12),
                   fresh = searchOf(Picking::Timestamps, 5, 12);
        searched(used, first, 12, 300, 9999);
        QCOMPARE(searched(used, second, 12, 3000, 9999), searched(fresh, second, 12, 3000, 9999));
    }

    void nothingAllowedEndsTheText() {
        const Model model = [](const Text&) { return Logits(kSize, NAN); };
        BeamSearch search = searchOf(Picking::Text, 3, 9);
        QCOMPARE(searched(search, model, 9, 3000, 9999), (Text{kEot}));
        const Model certain = [](const Text& text) {
            Logits logits(kSize, 0.0f);
            logits[text.size() < 4 ? std::size_t{9} : std::size_t{kEot}] = INFINITY;
            return logits;
        };
        QCOMPARE(searched(search, certain, 9, 3000, 9999), (Text{9, 9, 9, 9, kEot}));
    }

private:
    static BeamSearch searchOf(Picking picking, int width, std::int32_t most) {
        return {vocabulary(), suppression(), picking, width, most, 128};
    }
};

QTEST_GUILESS_MAIN(TestBeamSearch)
#include "tst_beam_search.moc"
