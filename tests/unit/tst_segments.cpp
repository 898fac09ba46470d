// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "device_agent/engine/tokenizer/language_vote.h"
#include "device_agent/engine/tokenizer/segments.h"

#include <cmath>

using namespace shardscope;
using namespace shardscope::tokenizer;

namespace {

constexpr Token kA = 0, kB = 1, kEot = 50257, kTime0 = 50364;

/// A multilingual vocabulary that spells out " a" and " b".
const Vocabulary& vocabulary() {
    static const Vocabulary v = [] {
        static const char kList[] = "\x02\0\0\0\x02\0\0\0 a\x02\0\0\0 b";
        auto read =
            Vocabulary::read(std::as_bytes(std::span(kList, sizeof kList - 1)), 51865, "", 0);
        if (!read)
            qFatal("%s", read.error().line().c_str());
        return std::move(read).value();
    }();
    return v;
}

} // namespace

class TestSegments : public QObject {
    Q_OBJECT
private slots:
    void cutsTokensAtTimestamps_data() {
        QTest::addColumn<std::vector<Token>>("tokens");
        QTest::addColumn<std::vector<Segment>>("segments");
        const auto row = [](const char* name, std::vector<Token> tokens,
                            std::vector<Segment> segments) {
            QTest::newRow(name) << std::move(tokens) << std::move(segments);
        };
        constexpr Token t = kTime0;
        row("nothing", {kEot}, {});
        row("one segment", {t, kA, kB, t + 125, kEot}, {{30000, 32500, " a b"}});
        row("two that touch", {t + 5, kA, t + 50, t + 50, kB, t + 75, kEot},
            {{30100, 31000, " a"}, {31000, 31500, " b"}});
        row("a pause between", {t, kA, t + 50, t + 100, kB, t + 200, kEot},
            {{30000, 31000, " a"}, {32000, 34000, " b"}});
        row("no times: the whole window", {kA, kB, kEot}, {{30000, 45000, " a b"}});
        row("the window ends within a sentence", {t, kA, t + 50, t + 50, kB},
            {{30000, 31000, " a"}, {31000, 45000, " b"}});
        row("text behind the end of the audio", {t, kA, t + 1000, t + 1000, kB},
            {{30000, 50000, " a"}, {50000, 50000, " b"}});
        row("0.00 ends nothing", {kA, t, kB, t + 10, kEot}, {{30000, 30200, " a b"}});
        row("times alone", {t + 10, kEot}, {});
    }
    void cutsTokensAtTimestamps() {
        QFETCH(std::vector<Token>, tokens);
        QFETCH(std::vector<Segment>, segments);
        QCOMPARE(segmentsOf(vocabulary(), tokens, 30000, 45000), segments);
    }

    void writesTimes() {
        QCOMPARE(timeText(0), std::string("00:00:00.000"));
        QCOMPARE(timeText(3'723'450), std::string("01:02:03.450"));
        QCOMPARE(
            segmentLine({0, 2500, " so it goes"}),
            std::string("[00:00:00.000 --> 00:00:02.500] so it goes"));
    }

    void languagesVote() {
        // en is token sot + 1; logits in shards that cut the languages apart.
        const Token first = kEot + 2;
        std::vector<float> logits(51865, 9.0f); // others do not vote
        for (int i = 0; i < 99; ++i)
            logits[static_cast<std::size_t>(first + i)] = 0.0f;
        logits[static_cast<std::size_t>(first + 2)] = 5.0f;
        for (const int shard : {51865, 50300, 1000, 7}) {
            LanguageVote vote(vocabulary());
            for (Token id = 0; id < 51865; id += shard)
                vote.take(
                    &logits[static_cast<std::size_t>(id)],
                    static_cast<std::size_t>(std::min(shard, 51865 - id)), id);
            const auto result = vote.result();
            QVERIFY(result.has_value());
            QCOMPARE(Vocabulary::languageCode(result->id), std::string_view("de"));
            QCOMPARE(result->probability, std::exp(5.0) / (std::exp(5.0) + 98));
        }
        QVERIFY(!LanguageVote(vocabulary()).result());
    }
};

QTEST_GUILESS_MAIN(TestSegments)
#include "tst_segments.moc"
