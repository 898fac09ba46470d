// SPDX-License-Identifier: GPL-3.0-or-later
// How long simulated runs take: what makes them slower or faster.
#include <algorithm>
#include <cmath>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/sim/simulate.h"
#include "tight_runs.h"

using namespace shardscope;
using base::Bytes;
using plan::BoardProfile;
using plan::Plan;
using plan::RunConfig;
using test::kBoards;
using test::tight;
using trace::Event;
using trace::EventKind;
using trace::Lane;

namespace {

/// The board with storage of another speed, by every way of reading.
BoardProfile withReads(BoardProfile board, double bytesPerSecond, double latencyNs) {
    board.readBytesPerSecond = bytesPerSecond;
    board.readLatencyNs = latencyNs;
    board.mappedBytesPerSecond = board.populatedBytesPerSecond = bytesPerSecond;
    board.reads.clear();
    plan::fillDerived(board);
    return board;
}

double totalMs(const Plan& p, const BoardProfile& board, sim::Workload workload = {}) {
    return analyze::summarise(sim::simulate(p, board, workload)).totalMs;
}

} // namespace

class TestSimulatedTimes : public QObject {
    Q_OBJECT

private slots:
    void aLargerBudgetIsNeverSlower_data();
    void aLargerBudgetIsNeverSlower();
    void aSlowerDeviceIsNeverFaster();
    void opsLoseToReadsOnlyWhileBytesMove();
    void readsThroughThePageCacheDependOnMemory_data();
    void readsThroughThePageCacheDependOnMemory();
    void theFrontEndTakesTheSoundThatThereIs();
    void measuredOpsAndReadsGoBeforeRates();
    void placesThatTheCachesHaveLostTakeLonger();
    void mappedPagesAreGivenBackForTheirPrice();
    void moreSlotsHideReads();
    void threadsHelpAsFarAsThereAreCores();
};

void TestSimulatedTimes::aLargerBudgetIsNeverSlower_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"sample", "tiny.en", "base", "small", "large-v3"})
        QTest::newRow(name) << name;
}

void TestSimulatedTimes::aLargerBudgetIsNeverSlower() {
    QFETCH(QString, name);
    const auto card = test::card(name.toStdString());
    test::Draw draw(13);
    for (int i = 0; i < (name == "large-v3" ? 6 : 16); ++i) {
        RunConfig config = draw.config();
        config.maxTokens = draw.of({3, 24, 60});
        if (config.policy == plan::Policy::Random)
            config.policy = plan::Policy::Pin; // of chance no order can be asked
        const std::int64_t least = test::streamingPeak(card, config).value;
        const std::int64_t whole = test::wholePeak(card, config).value;
        std::vector<Plan> plans;
        for (std::int64_t k = 0; k <= 16 && whole > least; ++k) {
            config.budget = Bytes(least + (whole - least) * k / 16);
            plans.push_back(test::planned(card, config));
        }
        const std::int32_t windows = 1 + draw.below(3);
        for (const char* boardName : kBoards)
            for (const double speed : {0.0, 5e6, 50e6, 400e6, 6e9}) {
                BoardProfile board = test::board(boardName);
                if (speed > 0)
                    board = withReads(board, speed, board.readLatencyNs);
                // Reads that begin earlier cost the ops beside them something.
                const double slack = 1.01;
                double before = 0;
                for (std::size_t k = 0; k < plans.size(); ++k) {
                    const double now = totalMs(plans[k], board, {0, windows});
                    std::string flags;
                    for (const plan::Knob& knob : plan::knobs())
                        if (knob.print(plans[k].config) != knob.print(RunConfig()))
                            flags +=
                                std::string(knob.flag) + " " + knob.print(plans[k].config) + " ";
                    QVERIFY2(
                        k == 0 || now <= before * slack,
                        qPrintable(
                            QStringLiteral("%1, %2 B/s, %3 windows, budget %4: %5 after %6 ms; %7")
                                .arg(QLatin1String(boardName))
                                .arg(board.readBytesPerSecond)
                                .arg(windows)
                                .arg(k)
                                .arg(now)
                                .arg(before)
                                .arg(QString::fromStdString(flags))));
                    before = now;
                }
            }
    }
}

void TestSimulatedTimes::aSlowerDeviceIsNeverFaster() {
    const Plan p = test::planned(test::card("tiny.en"), tight());
    BoardProfile board = test::board("rk3588-16g-nvme");
    board.overlap = 0;
    board.overlapDirect = 0;
    double before = 0;
    for (const double speed : {8e9, 2e9, 3e8, 5e7, 5e6}) {
        const double now = totalMs(p, withReads(board, speed, 0));
        QVERIFY(now >= before);
        before = now;
        // A throttle of the same speed takes the same time.
        RunConfig throttled = tight();
        throttled.emulateRead = Bytes(static_cast<std::int64_t>(speed));
        const double slowed =
            totalMs(test::planned(test::card("tiny.en"), throttled), withReads(board, 1e12, 0));
        QVERIFY2(std::abs(slowed - now) < now * 1e-2, qPrintable(QString::number(slowed / now)));
    }
}

/// Reads that a throttle holds back move no bytes most of the time: ops lose nothing to them then.
void TestSimulatedTimes::opsLoseToReadsOnlyWhileBytesMove() {
    RunConfig config = tight();
    config.loader = plan::Loader::Pread;
    config.emulateRead = Bytes(5'000'000);
    const Plan p = test::planned(test::card("tiny.en"), config);
    const auto computed = [&](double overlap) {
        BoardProfile board = test::board("rk3588-16g-nvme");
        board.overlap = overlap;
        board.source = "probe";
        std::uint64_t sum = 0;
        for (const Event& e : sim::simulate(p, withReads(board, 5e9, 0)).events)
            sum += e.kind == EventKind::Compute ? e.a : 0;
        return static_cast<double>(sum);
    };
    QVERIFY(computed(1) > computed(0));
    QVERIFY2(
        computed(1) < 1.05 * computed(0), qPrintable(QString::number(computed(1) / computed(0))));
}

/// What fits beside the arena stays in the page cache; what does not comes from the device again.
void TestSimulatedTimes::readsThroughThePageCacheDependOnMemory_data() {
    QTest::addColumn<QString>("loader");
    for (const char* loader : {"pread", "mmap", "populate"})
        QTest::newRow(loader) << loader;
}

void TestSimulatedTimes::readsThroughThePageCacheDependOnMemory() {
    QFETCH(QString, loader);
    RunConfig config = tight("32MiB");
    QVERIFY(plan::setKnob(config, "--loader", loader.toStdString()).ok());
    const Plan p = test::planned(test::card("tiny.en"), config);
    BoardProfile board = withReads(test::board("rk3588-16g-emmc"), 2e8, 1e5);
    const auto perToken = [&] {
        return analyze::summarise(sim::simulate(p, board)).decodeMsPerToken;
    };
    const double roomy = perToken();
    board.machine.cgroupLimit = base::mebibytes(48);
    const double narrow = perToken();
    // 200 MB/s against memory.
    QVERIFY2(narrow > 3 * roomy, qPrintable(QStringLiteral("%1 %2").arg(narrow).arg(roomy)));
    QVERIFY(narrow > 0.8e3 * p.streamedPerToken.real() / 2e8);
    // The device serves one thread as fast as many.
    RunConfig alone = config;
    alone.threads = 1;
    const Plan one = test::planned(test::card("tiny.en"), alone);
    const auto deviceBound = analyze::summarise(sim::simulate(one, board)).decodeMsPerToken;
    QVERIFY(narrow > 0.9 * 1e3 * p.streamedPerToken.real() / 2e8);
    QVERIFY(deviceBound < 1.3 * narrow);
    board.machine.cgroupLimit = base::mebibytes(512);
    QCOMPARE(perToken(), roomy);
}

void TestSimulatedTimes::theFrontEndTakesTheSoundThatThereIs() {
    RunConfig config;
    config.maxTokens = 3;
    const Plan p = test::planned(test::card("tiny.en"), config);
    const auto mel = [&](double seconds, std::int32_t windows) {
        return analyze::summarise(sim::simulate(p, test::board(), {1, windows, seconds})).melMs;
    };
    const double whole = mel(0, 1);
    QVERIFY(std::abs(mel(30, 1) - whole) < 1e-3);
    QVERIFY(std::abs(mel(10, 1) - whole / 3) < whole * 0.2);
    QVERIFY(std::abs(mel(45, 2) - whole * 1.5) < whole * 0.2); // beside other reads
}

/// What runs have shown of an op's very shape is what it takes.
void TestSimulatedTimes::measuredOpsAndReadsGoBeforeRates() {
    RunConfig config = tight();
    config.loader = plan::Loader::Pread;
    config.threads = 2;
    const Plan p = test::planned(test::card("tiny.en"), config);
    const auto keys = plan::kernelsOf(p);
    const model::Op* out = nullptr;
    BoardProfile board = test::board();
    for (std::size_t i = 0; i < p.graph->ops.size(); ++i)
        if (p.graph->ops[i].name == "decoder.1.self.out") {
            out = &p.graph->ops[i];
            for (const auto source : {plan::WeightSource::Resident, plan::WeightSource::Copied}) {
                plan::MeasuredOp op;
                op.shape = {keys[i], source, 2, 1, out->cost.flops, 0, p.weightBytes(*out).real()};
                op.ns = 123456;
                board.measured.ops.push_back(op);
            }
        }
    QVERIFY(out);
    board.measured.reads = {
        {.loader = plan::Loader::Pread, .threads = 2, .requestNs = 1000, .bytesPerSecond = 1e8}};
    for (const Event& e : sim::simulate(p, board).events) {
        if (e.kind == EventKind::Compute && e.b > 0 && &p.graph->ops[e.id] == out)
            QVERIFY(std::llabs(static_cast<std::int64_t>(e.a) - 123456) <= 1);
        if (e.kind != EventKind::Read || e.lane != Lane::Io)
            continue;
        const plan::Shard& shard = p.shards[e.id];
        const double time =
            1000.0 * static_cast<double>(shard.extents.size()) + shard.bytes.real() * 10;
        QVERIFY(std::abs(static_cast<double>(e.a) - time) <= 2);
    }
}

/// A slot that is filled again at once is still in the caches; those of a whole pass are not.
void TestSimulatedTimes::placesThatTheCachesHaveLostTakeLonger() {
    RunConfig config = tight();
    config.loader = plan::Loader::Pread;
    config.pin.kind = plan::PinChoice::Kind::None;
    config.slotCount = 1;
    const Plan p = test::planned(test::card("tiny.en"), config);
    BoardProfile board = test::board();
    board.measured.reads = {
        {.loader = plan::Loader::Pread, .requestNs = 10'000, .bytesPerSecond = 1e9}};
    const auto lossOf = [&](Bytes caches) {
        board.machine.cacheBytes = caches;
        board.measured.reads[0].lostNsPerByte = 0;
        const double before = totalMs(p, board);
        board.measured.reads[0].lostNsPerByte = 1;
        return totalMs(p, board) - before;
    };
    const double least = lossOf(base::kibibytes(256)), most = lossOf(base::mebibytes(64));
    QVERIFY(most < 0.2 * least);
    QVERIFY(lossOf(base::mebibytes(8)) <= least);
    QCOMPARE(lossOf(Bytes(0)), 0.0); // nobody knows how large they are
}

void TestSimulatedTimes::mappedPagesAreGivenBackForTheirPrice() {
    RunConfig config = tight();
    config.threads = 1;
    config.slotCount = 1; // nothing goes on beside anything else
    config.loader = plan::Loader::Populate;
    const Plan p = test::planned(test::card("tiny.en"), config);
    BoardProfile board = test::board();
    board.measured.reads = {
        {.loader = plan::Loader::Populate, .requestNs = 10'000, .bytesPerSecond = 1e9}};
    const double before = totalMs(p, board);
    constexpr double kNsPerByte = 0.05;
    board.measured.reads[0].releaseNsPerByte = kNsPerByte;
    const auto trace = sim::simulate(p, board);
    Bytes released;
    for (const Event& e : trace.events)
        if (e.kind == EventKind::Evict)
            released += p.shards[e.id].held;
    QVERIFY(released > Bytes(0));
    const double more = analyze::summarise(trace).totalMs - before;
    const double exact = kNsPerByte * released.real() * 1e-6;
    QVERIFY2(std::abs(more - exact) < 0.01 * exact, qPrintable(QString::number(more / exact)));
    // Other loaders map nothing.
    RunConfig copied = config;
    copied.loader = plan::Loader::Pread;
    board.measured.reads.push_back(
        {.loader = plan::Loader::Pread,
         .requestNs = 10'000,
         .bytesPerSecond = 1e9,
         .releaseNsPerByte = kNsPerByte});
    const Plan q = test::planned(test::card("tiny.en"), copied);
    const double with = totalMs(q, board);
    board.measured.reads.back().releaseNsPerByte = 0;
    QCOMPARE(with, totalMs(q, board));
}

void TestSimulatedTimes::moreSlotsHideReads() {
    RunConfig config = tight();
    config.pin.kind = plan::PinChoice::Kind::None;
    double before = 1e300;
    for (const std::int32_t slotCount : {1, 2}) {
        config.slotCount = slotCount;
        const auto trace =
            sim::simulate(test::planned(test::card("tiny.en"), config), test::board());
        const auto summary = analyze::summarise(trace);
        QVERIFY(summary.totalMs < before);
        QVERIFY(slotCount == 1 || summary.hiddenFraction > 0.05);
        before = summary.totalMs;
    }
}

void TestSimulatedTimes::threadsHelpAsFarAsThereAreCores() {
    const BoardProfile board = test::board("rk3588-16g-nvme");
    double before = 1e300;
    for (const std::int32_t threads : {1, 2, 4, 8}) {
        RunConfig config;
        config.maxTokens = 9;
        config.threads = threads;
        const double now = totalMs(test::planned(test::card("tiny.en"), config), board);
        QVERIFY(now < before);
        before = now;
    }
    RunConfig config;
    config.maxTokens = 9;
    config.threads = 64;
    QVERIFY(std::abs(totalMs(test::planned(test::card("tiny.en"), config), board) - before) < 1);
}

QTEST_GUILESS_MAIN(TestSimulatedTimes)
#include "tst_simulated_times.moc"
