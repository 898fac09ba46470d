// SPDX-License-Identifier: GPL-3.0-or-later
#include <set>

#include <QtTest>

#include "app/replay/run_figures.h"
#include "sim_engine/analyze/tune.h"
#include "sim_engine/plan/knobs.h"
#include "tests/unit/plan_fixtures.h"

using namespace shardscope;
using analyze::Accuracy;
using analyze::TuneFigures;
using analyze::TunePoint;
using analyze::TuneQuestion;
using analyze::TuneResult;

namespace {

constexpr sim::Workload kWorkload{24, 1}; // as many tokens as tell settings apart

analyze::TuneProgress toTheEnd() {
    return [](double, const TuneResult&) { return true; };
}

analyze::Predict predictor(const test::Card& card, const plan::BoardProfile& board) {
    return app::simulatedFigures(card, board, kWorkload, [] { return false; });
}

TuneQuestion question(int mebibytes) {
    TuneQuestion q;
    if (mebibytes > 0)
        q.start.budget = base::mebibytes(mebibytes);
    return q;
}

TuneResult answer(const char* card, const char* board, const TuneQuestion& q) {
    const auto profile = test::board(board);
    const auto model = test::card(card);
    return analyze::tune(*model, profile, q, predictor(model, profile), toTheEnd());
}

std::string settings(const plan::RunConfig& config) {
    return plan::toJson(config).dump();
}

} // namespace

class TestTune : public QObject {
    Q_OBJECT
private slots:
    void frontIsStrictlyBetterStepByStep_data() {
        QTest::addColumn<QByteArray>("card");
        QTest::addColumn<QByteArray>("board");
        QTest::addColumn<int>("mebibytes");
        QTest::newRow("tiny in 40 MiB, NAND")
            << QByteArray("tiny.en") << QByteArray("v851s-512m-nand") << 40;
        QTest::newRow("base in 90 MiB, eMMC")
            << QByteArray("base.en") << QByteArray("rk3588-16g-emmc") << 90;
        QTest::newRow("tiny in all that is free")
            << QByteArray("tiny") << QByteArray("v851s-512m-nand") << 0;
    }
    void frontIsStrictlyBetterStepByStep() {
        QFETCH(QByteArray, card);
        QFETCH(QByteArray, board);
        QFETCH(int, mebibytes);
        const auto profile = test::board(board.constData());
        const TuneResult r = answer(card.constData(), board.constData(), question(mebibytes));
        QVERIFY(r.complete);
        QVERIFY2(r.front.size() >= 3, std::to_string(r.front.size()).c_str());
        const base::Bytes limit =
            mebibytes > 0 ? base::mebibytes(mebibytes) : profile.ramTotal - profile.ramReserved;
        plan::Drafts drafts(test::card(card.constData()));
        for (std::size_t i = 0; i < r.front.size(); ++i) {
            const TunePoint& p = r.front[i];
            if (i > 0) {
                QVERIFY(p.figures.peak > r.front[i - 1].figures.peak);
                QVERIFY(p.figures.msPerToken < r.front[i - 1].figures.msPerToken);
            }
            QVERIFY(p.figures.peak <= limit);
            QVERIFY(p.config.budget && *p.config.budget <= limit);
            QVERIFY(!p.why.empty());
            // The tight budget gives the run that is promised.
            const TuneFigures again = app::figuresOf(drafts, profile, kWorkload, p.config);
            QVERIFY(again.feasible);
            QCOMPARE(again.peak.value, p.figures.peak.value);
            QCOMPARE(again.msPerToken, p.figures.msPerToken);
        }
        for (std::size_t i = 1; i < r.firstToken.size(); ++i) {
            QVERIFY(r.firstToken[i].figures.peak > r.firstToken[i - 1].figures.peak);
            QVERIFY(
                r.firstToken[i].figures.firstTokenMs < r.firstToken[i - 1].figures.firstTokenMs);
        }
    }

    void findsTheBestOfAnExhaustiveGrid_data() {
        QTest::addColumn<QByteArray>("card");
        QTest::addColumn<QByteArray>("board");
        QTest::addColumn<int>("mebibytes");
        for (const auto& [card, board, sizes] :
             {std::tuple<const char*, const char*, std::vector<int>>{
                  "tiny.en", "v851s-512m-nand", {20, 32, 56}},
              {"base.en", "v851s-512m-nand", {40, 90}},
              {"base.en", "rk3588-16g-nvme", {30, 60}},
              {"small", "rk3588-16g-emmc", {120, 250}}})
            for (const int size : sizes)
                QTest::addRow("%s on %s in %d MiB", card, board, size)
                    << QByteArray(card) << QByteArray(board) << size;
    }
    void findsTheBestOfAnExhaustiveGrid() {
        QFETCH(QByteArray, card);
        QFETCH(QByteArray, board);
        QFETCH(int, mebibytes);
        std::vector<plan::RunConfig> grid{question(mebibytes).start};
        const auto vary = [&](const char* key, std::initializer_list<const char*> values) {
            std::vector<plan::RunConfig> all;
            for (const plan::RunConfig& config : grid)
                for (const char* value : values) {
                    all.push_back(config);
                    QVERIFY(plan::setKnob(all.back(), key, value).ok());
                }
            grid = std::move(all);
        };
        vary("decoder_shard", {"tensor", "sublayer", "1", "3"});
        vary("encoder_shard", {"tensor", "1"});
        vary("slots", {"1", "2", "3"});
        vary("cross_kv", {"f16", "q8", "shared"});
        vary("kv", {"f16", "q8"});
        vary("policy", {"pin", "belady"});
        QVERIFY(grid.size() >= 200);
        const auto profile = test::board(board.constData());
        const auto model = test::card(card.constData());
        double best = INFINITY;
        for (const TuneFigures& f : predictor(model, profile)(grid))
            if (f.feasible)
                best = std::min(best, f.msPerToken);
        QVERIFY(std::isfinite(best));
        const TuneResult r = answer(card.constData(), board.constData(), question(mebibytes));
        QVERIFY(!r.front.empty());
        const double found = r.front.back().figures.msPerToken;
        qInfo(
            "grid of %zu: %.2f ms, found %.2f ms of %lld tried", grid.size(), best, found,
            static_cast<long long>(r.tried));
        QVERIFY2(
            found <= best * 1.05,
            qPrintable(QStringLiteral("%1 ms against %2").arg(found).arg(best)));
    }

    void theSameQuestionHasTheSameAnswer() {
        const auto profile = test::board();
        const auto model = test::card("tiny.en");
        const TuneQuestion q = question(40);
        plan::Drafts drafts(model);
        const analyze::Predict alone = [&](std::span<const plan::RunConfig> configs) {
            std::vector<TuneFigures> all;
            for (const plan::RunConfig& config : configs)
                all.push_back(app::figuresOf(drafts, profile, kWorkload, config));
            return all;
        };
        const TuneResult a = analyze::tune(*model, profile, q, alone, toTheEnd());
        const TuneResult b = answer("tiny.en", "v851s-512m-nand", q);
        QCOMPARE(a.tried, b.tried);
        QCOMPARE(a.front.size(), b.front.size());
        for (std::size_t i = 0; i < a.front.size(); ++i) {
            QCOMPARE(settings(a.front[i].config), settings(b.front[i].config));
            QCOMPARE(a.front[i].why, b.front[i].why);
        }
    }

    void limitsOfTimeAreKept() {
        const TuneResult free = answer("base.en", "rk3588-16g-emmc", question(90));
        QVERIFY(free.front.size() >= 3);
        const TuneFigures middle = free.front[free.front.size() / 2].figures;
        TuneQuestion q = question(90);
        q.maxMsPerToken = middle.msPerToken;
        const TuneResult token = answer("base.en", "rk3588-16g-emmc", q);
        QVERIFY(!token.front.empty());
        for (const TunePoint& p : token.front)
            QVERIFY(p.figures.msPerToken <= middle.msPerToken);
        q = question(90);
        q.maxFirstTokenMs = free.firstToken.back().figures.firstTokenMs * 1.02;
        const TuneResult first = answer("base.en", "rk3588-16g-emmc", q);
        QVERIFY(!first.front.empty());
        for (const TunePoint& p : first.front)
            QVERIFY(p.figures.firstTokenMs <= *q.maxFirstTokenMs);
        q.maxMsPerToken = 1e-3;
        const TuneResult none = answer("base.en", "rk3588-16g-emmc", q);
        QVERIFY(none.front.empty() && none.complete);
        QVERIFY(none.leastMsPerToken && *none.leastMsPerToken > 1e-3);
    }

    void knobsThatWereGivenStay() {
        TuneQuestion q = question(60);
        q.start.slotCount = 3;
        q.start.crossKv = model::KvType::F32;
        q.fixed = {"slots", "cross_kv"};
        const TuneResult r = answer("tiny.en", "v851s-512m-nand", q);
        QVERIFY(!r.front.empty());
        for (const TunePoint& p : r.front) {
            QCOMPARE(p.config.slotCount, 3);
            QVERIFY(p.config.crossKv == model::KvType::F32);
        }
    }

    void whatCostsAccuracyIsTriedOnlyWhenAskedFor() {
        std::set<std::string> kinds;
        const auto profile = test::board();
        const auto model = test::card("tiny.en");
        const auto real = predictor(model, profile);
        const auto seen = [&](Accuracy accuracy) {
            kinds.clear();
            TuneQuestion q = question(30);
            q.accuracy = accuracy;
            const analyze::Predict predict = [&](std::span<const plan::RunConfig> configs) {
                for (const plan::RunConfig& c : configs) {
                    kinds.insert(std::string(model::kvTypeName(c.kv)));
                    kinds.insert(std::string(model::kvTypeName(c.crossKv)));
                    kinds.insert(c.crossKeep < 1 ? "half" : "whole");
                }
                return real(configs);
            };
            (void)analyze::tune(*model, profile, q, predict, toTheEnd());
            return kinds;
        };
        QCOMPARE(seen(Accuracy::Exact), (std::set<std::string>{"f16", "f32", "shared", "whole"}));
        QCOMPARE(
            seen(Accuracy::Near), (std::set<std::string>{"f16", "f32", "q8", "shared", "whole"}));
        QCOMPARE(
            seen(Accuracy::Lossy),
            (std::set<std::string>{"f16", "f32", "half", "q4", "q8", "shared", "whole"}));
    }

    void thePageCacheIsLeantOnOnlyWhenAskedFor() {
        TuneQuestion q = question(24);
        const TuneResult within = answer("tiny.en", "v851s-512m-nand", q);
        for (const TunePoint& p : within.front)
            QVERIFY(
                p.config.loader == plan::Loader::Auto || p.config.loader >= plan::Loader::Direct);
        q.pageCache = true; // most of this board's RAM is idle beside such a budget
        const TuneResult beside = answer("tiny.en", "v851s-512m-nand", q);
        QVERIFY(
            beside.front.back().figures.msPerToken < within.front.back().figures.msPerToken / 2);
    }

    void batchesAreTriedForAudioOfSeveralWindows() {
        const auto profile = test::board();
        const auto model = test::card("tiny.en");
        TuneQuestion q = question(80);
        q.windows = 4;
        const auto predict = app::simulatedFigures(model, profile, {12, 4}, [] { return false; });
        const TuneResult r = analyze::tune(*model, profile, q, predict, toTheEnd());
        QVERIFY(!r.front.empty());
        QVERIFY(r.front.back().config.batch > 1); // one pass over the weights for all
    }

    void endsWhenItIsToldToAndKeepsWhatItHas() {
        const auto profile = test::board();
        const auto model = test::card("tiny.en");
        int told = 0;
        const TuneResult r = analyze::tune(
            *model, profile, question(40), predictor(model, profile),
            [&](double share, const TuneResult& soFar) {
                return ++told < 4 && share <= 1 && soFar.tried > 0;
            });
        QCOMPARE(told, 4);
        QVERIFY(!r.complete);
        QVERIFY(!r.front.empty());
        for (std::size_t i = 1; i < r.front.size(); ++i)
            QVERIFY(r.front[i].figures.msPerToken < r.front[i - 1].figures.msPerToken);
    }

    void aPredictorThatGivesUpEndsIt() {
        const auto profile = test::board();
        const auto model = test::card("tiny.en");
        const auto nothing = app::simulatedFigures(model, profile, kWorkload, [] { return true; });
        const TuneResult r = analyze::tune(*model, profile, question(40), nothing, toTheEnd());
        QVERIFY(!r.complete);
        QVERIFY(r.front.empty());
    }

    void tellsTheLeastWhereNothingFits() {
        const TuneResult r = answer("small", "v851s-512m-nand", question(2));
        QVERIFY(r.complete);
        QVERIFY(r.front.empty());
        QVERIFY(r.leastPeak > base::mebibytes(2));
        TuneQuestion q;
        q.start.budget = r.leastPeak;
        QVERIFY(!answer("small", "v851s-512m-nand", q).front.empty());
    }
};

QTEST_GUILESS_MAIN(TestTune)
#include "tst_tune.moc"
