// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "device_agent/engine/whisper/logit_rank.h"

using namespace shardscope;
using engine::LogitRank;
using engine::RankedToken;

namespace {

constexpr std::size_t kSize = 51865;

std::vector<float> randomRow(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 4);
    std::vector<float> row(kSize);
    for (float& x : row)
        x = std::round(normal(random) * 64) / 64; // many are equal
    return row;
}

struct Result {
    std::vector<std::size_t> ids;
    double logSum = 0;

    bool operator==(const Result&) const = default;
};

/// Ranks a row that comes in pieces of these sizes, over and over.
Result ranked(
    const std::vector<float>& row, const std::vector<std::size_t>& sizes,
    std::span<const std::uint64_t> skip = {}, std::size_t wanted = 8) {
    LogitRank rank;
    rank.begin(wanted);
    for (std::size_t at = 0, i = 0; at < row.size(); ++i) {
        const std::size_t n = std::min(sizes[i % sizes.size()], row.size() - at);
        rank.take(&row[at], n, at, skip);
        at += n;
    }
    rank.finish();
    Result result;
    for (const RankedToken& t : rank.best()) {
        result.ids.push_back(static_cast<std::size_t>(t.id));
        if (row[result.ids.back()] != t.logit)
            qFatal("a token with the logit of another");
    }
    result.logSum = rank.logSum();
    return result;
}

} // namespace

class TestLogitRank : public QObject {
    Q_OBJECT
private slots:
    void ranksAndSumsAsAPlainLoopDoes() {
        for (unsigned seed = 1; seed < 6; ++seed) {
            const auto row = randomRow(seed);
            std::vector<std::size_t> order(row.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return row[a] > row[b];
            });
            double sum = 0;
            for (const float x : row)
                sum += std::exp(double{x});
            for (const std::size_t wanted : {1, 3, 8}) {
                const Result r = ranked(row, {kSize}, {}, wanted);
                QVERIFY(std::equal(r.ids.begin(), r.ids.end(), order.begin()));
                QCOMPARE(r.ids.size(), wanted);
                QVERIFY2(
                    std::abs(r.logSum - std::log(sum)) < 1e-6,
                    qPrintable(QString::number(r.logSum - std::log(sum))));
            }
        }
    }

    void noCutChangesABit() {
        const auto row = randomRow(9);
        std::vector<std::uint64_t> skip(kSize / 64 + 1);
        for (std::size_t id = 0; id < kSize; id += 7)
            skip[id / 64] |= std::uint64_t{1} << (id % 64);
        for (const auto& mask : {std::vector<std::uint64_t>{}, skip}) {
            const Result whole = ranked(row, {kSize}, mask);
            for (const std::vector<std::size_t>& sizes :
                 {std::vector<std::size_t>{1}, {255, 2}, {256}, {257}, {6483}, {25933, 1, 300}}) {
                const Result cut = ranked(row, sizes, mask);
                QVERIFY(std::memcmp(&cut.logSum, &whole.logSum, sizeof whole.logSum) == 0);
                QVERIFY(cut == whole);
            }
        }
    }

    void leavesOutWhatIsSkippedOrNoNumber() {
        std::vector<float> row(kSize, -INFINITY);
        row[5] = 3;
        row[6] = NAN;
        row[700] = 9;
        row[kSize - 1] = 3;
        std::vector<std::uint64_t> skip(kSize / 64 + 1);
        skip[700 / 64] = std::uint64_t{1} << (700 % 64);
        const Result r = ranked(row, {333}, skip);
        QCOMPARE(r.ids, (std::vector<std::size_t>{5, kSize - 1}));
        QVERIFY(std::abs(r.logSum - (3 + std::log(2.0))) < 1e-6);
        QVERIFY(std::isinf(ranked(std::vector<float>(kSize, NAN), {333}).logSum));
        QVERIFY(ranked(std::vector<float>(kSize, NAN), {333}).ids.empty());
    }

    void aRowForgetsTheOneBefore() {
        const auto first = randomRow(1), second = randomRow(2);
        LogitRank rank;
        for (const auto& row : {first, second}) {
            rank.begin(4);
            rank.take(row.data(), 1000, 0, {});
            rank.finish();
        }
        LogitRank fresh;
        fresh.begin(4);
        fresh.take(second.data(), 1000, 0, {});
        fresh.finish();
        QCOMPARE(rank.logSum(), fresh.logSum());
        QCOMPARE(rank.best()[3].id, fresh.best()[3].id);
    }
};

QTEST_GUILESS_MAIN(TestLogitRank)
#include "tst_logit_rank.moc"
