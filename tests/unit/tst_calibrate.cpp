// SPDX-License-Identifier: GPL-3.0-or-later
// A fit to traces whose truth is known finds that truth again, and predicts runs that it has not
// seen.
#include <cmath>

#include <nlohmann/json.hpp>

#include "plan_fixtures.h"
#include "sim_engine/analyze/calibrate.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"

using namespace shardscope;
using analyze::RunObservation;
using plan::BoardProfile;
using plan::Loader;
using plan::Plan;
using plan::RunConfig;

namespace {

/// One slot after the other stays in them, the many of a large cache do not.
constexpr base::Bytes kCaches = base::mebibytes(12);

/// The board that the runs come from: all of it is known.
BoardProfile truth() {
    BoardProfile board = test::board("rk3588-16g-nvme");
    board.source = "probe";
    board.overlap = 0.6;
    board.tokenFixedNs = 40'000;
    board.machine.cacheBytes = kCaches;
    board.measured.startNs = 1.5e6;
    board.measured.opGapNs = 250;
    board.measured.wakeNs = 9'000;
    board.measured.rowNs = 3'000;
    board.measured.reads = {
        {.loader = Loader::Pread,
         .threads = 2,
         .requestNs = 20'000,
         .bytesPerSecond = 2.5e9,
         .freshBytesPerSecond = 1.2e9,
         .computeLoss = 0.3,
         .readLoss = 0.2,
         .lostNsPerByte = 0.15,
         .wakeNs = 12'000},
        {.loader = Loader::Direct,
         .threads = 2,
         .requestNs = 90'000,
         .bytesPerSecond = 0.8e9,
         .computeLoss = 0.05,
         .readLoss = 0.1},
        {.loader = Loader::Populate,
         .threads = 2,
         .requestNs = 15'000,
         .bytesPerSecond = 3e9,
         .freshBytesPerSecond = 2e9,
         .computeLoss = 0.1,
         .readLoss = 0.2,
         .releaseNsPerByte = 0.05},
        {.loader = Loader::Mmap,
         .threads = 2,
         .requestNs = 4'000,
         .bytesPerSecond = 300e9,
         .computeLoss = 0.1,
         .touchNsPerByte = 0.4,
         .releaseNsPerByte = 0.02}};
    return board;
}

/// What is known before: other rates by far.
BoardProfile prior() {
    BoardProfile board = test::board("rk3588-16g-nvme");
    board.machine.cacheBytes = kCaches;
    board.kernels = {};
    for (auto& rates : board.opsPerSecond)
        rates = {rates[0] * 3, rates[1] * 0.4};
    board.memoryBytesPerSecond *= 2;
    board.readBytesPerSecond /= 3;
    board.reads.clear();
    board.threadScaling.clear();
    board.source = "probe";
    plan::fillDerived(board);
    return board;
}

struct Run {
    std::shared_ptr<Plan> plan;
    trace::Trace trace;
};

RunConfig configOf(std::initializer_list<std::pair<const char*, const char*>> knobs) {
    RunConfig config;
    config.maxTokens = 24;
    config.threads = 2;
    config.loader = Loader::Pread;
    for (const auto& [key, value] : knobs)
        if (!plan::setKnob(config, key, value))
            qFatal("%s", key);
    return config;
}

Run runOf(const RunConfig& config, const BoardProfile& board = truth()) {
    Run run;
    run.plan = std::make_shared<Plan>(test::planned(test::card("tiny.en"), config));
    run.trace = sim::simulate(*run.plan, board);
    return run;
}

std::vector<RunConfig> learned() {
    return {
        configOf({}),
        configOf({{"pin", "none"}}),
        configOf({{"pin", "none"}, {"slots", "1"}}),
        configOf({{"pin", "none"}, {"decoder_shard", "tensor"}}),
        configOf({{"budget_bytes", "60MiB"}}),
        configOf({{"budget_bytes", "60MiB"}, {"policy", "lru"}}),
        configOf({{"budget_bytes", "60MiB"}, {"loader", "direct"}}),
        configOf({{"pin", "none"}, {"loader", "direct"}, {"slots", "1"}}),
        configOf({{"pin", "none"}, {"loader", "direct"}, {"decoder_shard", "sublayer"}}),
        configOf({{"pin", "none"}, {"loader", "populate"}}),
        configOf({{"pin", "none"}, {"loader", "populate"}, {"slots", "1"}}),
        configOf({{"budget_bytes", "60MiB"}, {"loader", "populate"}}),
        configOf({{"pin", "none"}, {"loader", "mmap"}}),
        configOf({{"budget_bytes", "60MiB"}, {"loader", "mmap"}})};
}

analyze::Fit fitted(const BoardProfile& truly = truth()) {
    std::vector<RunObservation> seen;
    for (const RunConfig& config : learned()) {
        const Run run = runOf(config, truly);
        auto one = analyze::observe(run.trace, *run.plan, config.loader, prior());
        if (!one)
            qFatal("%s", one.error().line().c_str());
        seen.push_back(std::move(*one));
    }
    std::vector<const RunObservation*> runs;
    for (const auto& one : seen)
        runs.push_back(&one);
    auto fit = analyze::calibrate(runs, prior());
    if (!fit)
        qFatal("%s", fit.error().line().c_str());
    return *std::move(fit);
}

bool isNear(double value, double truth, double share) {
    return std::abs(value - truth) <= share * std::abs(truth);
}

} // namespace

class TestCalibrate : public QObject {
    Q_OBJECT

private slots:
    void findsReadsAndFixedCostsAgain() {
        const BoardProfile board = fitted().board;
        for (const plan::MeasuredReads& exact : truth().measured.reads) {
            const auto* found = board.measured.find(exact.loader, 2);
            QVERIFY(found);
            QVERIFY2(
                isNear(found->bytesPerSecond, exact.bytesPerSecond, 0.05),
                qPrintable(QString::number(found->bytesPerSecond)));
            QVERIFY2(
                isNear(found->requestNs, exact.requestNs, 0.5),
                qPrintable(QString::number(found->requestNs)));
            QVERIFY2(
                std::abs(found->computeLoss - exact.computeLoss) < 0.08,
                qPrintable(QString::number(found->computeLoss)));
            QVERIFY2(
                std::abs(found->readLoss - exact.readLoss) < 0.08,
                qPrintable(QString::number(found->readLoss)));
            QVERIFY2(
                std::abs(found->releaseNsPerByte - exact.releaseNsPerByte) < 0.005,
                qPrintable(QString::number(found->releaseNsPerByte)));
            QVERIFY2(
                std::abs(found->lostNsPerByte - exact.lostNsPerByte) < 0.02,
                qPrintable(QString::number(found->lostNsPerByte)));
            QVERIFY2(
                isNear(found->touchNsPerByte, exact.touchNsPerByte, 0.1),
                qPrintable(QString::number(found->touchNsPerByte)));
            const double wake = exact.wakeNs > 0 ? exact.wakeNs : truth().measured.wakeNs;
            QVERIFY2(isNear(found->wakeNs, wake, 0.05), qPrintable(QString::number(found->wakeNs)));
        }
        const plan::MeasuredCosts& exact = truth().measured;
        QVERIFY(isNear(board.measured.startNs, exact.startNs, 0.01));
        QVERIFY(isNear(board.measured.opGapNs, exact.opGapNs, 0.5)); // reads beside it stretch it
        QVERIFY(isNear(board.tokenFixedNs, truth().tokenFixedNs, 0.5));
    }

    void findsTheTimesOfOpsAgain() {
        const analyze::Fit fit = fitted();
        for (const double residual : fit.quality.passes)
            QVERIFY2(residual < 0.08, qPrintable(QString::number(residual)));
        const Run run = runOf(configOf({}));
        for (const trace::Event& e : sim::simulate(*run.plan, fit.board).events)
            if (e.kind == trace::EventKind::Compute && e.b > 2) {
                const auto exact = std::find_if(
                    run.trace.events.begin(), run.trace.events.end(), [&](const auto& other) {
                        return other.kind == e.kind && other.id == e.id && other.b == e.b;
                    });
                QVERIFY(exact != run.trace.events.end());
                QVERIFY2(
                    isNear(static_cast<double>(e.a), static_cast<double>(exact->a), 0.1) ||
                        e.a < 3000,
                    qPrintable(QString::fromStdString(run.plan->graph->ops[e.id].name)));
            }
    }

    void predictsRunsThatItHasNotSeen_data() {
        QTest::addColumn<QString>("budget");
        QTest::addColumn<QString>("shard");
        QTest::addColumn<QString>("loader");
        QTest::addColumn<QString>("limit");
        QTest::newRow("another budget") << "48MiB"
                                        << "1"
                                        << "pread"
                                        << "none";
        QTest::newRow("sublayers, direct") << "50MiB"
                                           << "sublayer"
                                           << "direct"
                                           << "none";
        QTest::newRow("populated maps") << "50MiB"
                                        << "2"
                                        << "populate"
                                        << "none";
        QTest::newRow("lazy maps of sublayers") << "48MiB"
                                                << "sublayer"
                                                << "mmap"
                                                << "none";
        QTest::newRow("slow storage") << "55MiB"
                                      << "2"
                                      << "pread"
                                      << "200MB/s";
        QTest::newRow("slow storage, direct") << "65MiB"
                                              << "1"
                                              << "direct"
                                              << "100MB/s";
    }
    void predictsRunsThatItHasNotSeen() {
        QFETCH(QString, budget);
        QFETCH(QString, shard);
        QFETCH(QString, loader);
        QFETCH(QString, limit);
        const Run run = runOf(configOf(
            {{"budget_bytes", budget.toLatin1().constData()},
             {"decoder_shard", shard.toLatin1().constData()},
             {"loader", loader.toLatin1().constData()},
             {"emulate_read", limit.toLatin1().constData()}}));
        const auto exact = analyze::summarise(run.trace);
        const auto known = analyze::summarise(sim::simulate(*run.plan, fitted().board));
        const auto text =
            QStringLiteral("%1 of %2").arg(known.decodeMsPerToken).arg(exact.decodeMsPerToken);
        QVERIFY2(isNear(known.decodeMsPerToken, exact.decodeMsPerToken, 0.05), qPrintable(text));
        QVERIFY(isNear(known.totalMs, exact.totalMs, 0.05));
        QCOMPARE(known.bytesRead, exact.bytesRead);
    }

    /// Half of the file was written page by page, and takes three times as long to copy.
    void findsWhereCopiesTakeLonger() {
        BoardProfile board = truth();
        const auto card = test::card("tiny.en");
        constexpr int kCells = 80;
        plan::CachedFile file{card->name, base::mebibytes(1), std::vector<double>(kCells, 0.5)};
        std::fill(file.costs.begin() + kCells / 2, file.costs.end(), 1.5);
        board.measured.files = {file};
        const BoardProfile found = fitted(board).board;
        QCOMPARE(found.measured.files.size(), std::size_t(1));
        const auto& costs = found.measured.files[0].costs;
        QVERIFY(isNear(found.measured.find(Loader::Pread, 2)->requestNs, 20'000, 0.2));
        QVERIFY2(
            isNear(costs[kCells / 2 + 8] / costs[kCells / 2 - 8], 3, 0.25),
            qPrintable(QString::number(costs[kCells / 2 + 8] / costs[kCells / 2 - 8])));
        const Run run = runOf(configOf({{"budget_bytes", "48MiB"}, {"decoder_shard", "2"}}), board);
        const auto exact = analyze::summarise(run.trace);
        const auto known = analyze::summarise(sim::simulate(*run.plan, found));
        QVERIFY(isNear(known.decodeMsPerToken, exact.decodeMsPerToken, 0.05));
    }

    void bytesBehindAKnownLayoutCountOnce() {
        const plan::CachedFile file{"m", base::mebibytes(1), {2, 0.5}};
        const double mebibyte = base::mebibytes(1).real();
        QCOMPARE(file.weighted(base::Bytes(0), base::mebibytes(2)), 2.5 * mebibyte);
        QCOMPARE(file.weighted(base::mebibytes(1), base::mebibytes(2)), 1.5 * mebibyte);
        QCOMPARE(file.weighted(base::mebibytes(9), base::mebibytes(1)), mebibyte);
    }

    void measuredCostsSurviveTheirFile() {
        const BoardProfile board = fitted().board;
        QCOMPARE(board.measured.files.size(), std::size_t(1));
        auto again = plan::profileFromJson(plan::toJson(board));
        QVERIFY2(again.ok(), test::lineOf(again).c_str());
        QCOMPARE(plan::toJson(*again).dump(), plan::toJson(board).dump());
        QVERIFY(!again->measured.empty());
    }

    void impossibleCostsAreRefused_data() {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<double>("value");
        QTest::newRow("negative") << QByteArray("wake_ns") << -1.0;
        QTest::newRow("absurd") << QByteArray("start_ns") << 1e300;
    }
    void impossibleCostsAreRefused() {
        QFETCH(QByteArray, key);
        QFETCH(double, value);
        auto document = plan::toJson(truth());
        document["measured"][key.toStdString()] = value;
        const auto read = plan::profileFromJson(document);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().code, base::ErrorCode::BadInput);
        QVERIFY(read.error().what.find(key.toStdString()) != std::string::npos);
    }

    void impossibleCopyCostsAreRefused() {
        for (const double cost : {0.0, -1.0, 1e9}) {
            auto document = plan::toJson(fitted().board);
            document["measured"]["files"][0]["copy_costs"][3] = cost;
            const auto read = plan::profileFromJson(document);
            QVERIFY(!read.ok());
            QVERIFY(read.error().what.find("copy_costs") != std::string::npos);
        }
        auto document = plan::toJson(fitted().board);
        document["measured"]["files"][0]["cell_bytes"] = 0;
        QVERIFY(!plan::profileFromJson(document).ok());
    }

    void tracesOfAnotherPlanAndTornOnesAreRefused() {
        const Run run = runOf(configOf({})), other = runOf(configOf({{"pin", "none"}}));
        QVERIFY(!analyze::observe(run.trace, *other.plan, Loader::Pread, prior()).ok());
        trace::Trace torn = run.trace;
        torn.complete = false;
        const auto seen = analyze::observe(torn, *run.plan, Loader::Pread, prior());
        QVERIFY(!seen.ok());
        QCOMPARE(seen.error().code, base::ErrorCode::BadInput);
        QVERIFY(!analyze::calibrate({}, prior()).ok());
    }
};

QTEST_GUILESS_MAIN(TestCalibrate)
#include "tst_calibrate.moc"
