// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "plan_fixtures.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/closing.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"

using namespace shardscope;
using base::Bytes;
using plan::BoardProfile;
using plan::Plan;
using plan::RunConfig;
using plan::Step;
using plan::StepKind;
using trace::Event;
using trace::EventKind;
using trace::Lane;

namespace {

const char* const kBoards[] = {"v851s-512m-nand", "rk3588-16g-emmc", "rk3588-16g-nvme"};

RunConfig tight(const char* budget = "40MiB") {
    RunConfig config;
    config.maxTokens = 20;
    if (!plan::setKnob(config, "--budget", budget))
        qFatal("no budget");
    return config;
}

std::int64_t count(const trace::Trace& trace, EventKind kind) {
    return std::count_if(
        trace.events.begin(), trace.events.end(), [&](auto& e) { return e.kind == kind; });
}

/// Bytes that the steps of a run read: loads, and table rows that are not resident.
std::int64_t bytesOfSteps(const Plan& p, std::int32_t windows, std::int32_t tokens) {
    std::int64_t sum = 0;
    const auto take = [&](const std::vector<Step>& steps, std::int32_t window, bool prefill) {
        for (const Step& s : steps) {
            if (s.kind == StepKind::Load && !(s.firstWindowOnly && window > 0))
                sum += p.shards[s.id].bytes.value;
            if (s.kind == StepKind::Compute)
                for (const base::TensorId t : p.graph->ops[s.id].rowReads)
                    sum += prefill ? p.card->tensor(t).bytesPerRow().value * p.graph->promptTokens
                                   : p.rowReadBytes(t).value;
        }
    };
    for (std::int32_t window = 0; window < windows; ++window) {
        take(p.window, window, true);
        for (std::int32_t step = 1; step < tokens; ++step)
            take(p.stepsOf(step), window, false);
    }
    return sum;
}

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

class TestSimulate : public QObject {
    Q_OBJECT

private slots:
    void readsTheBytesOfItsSteps();
    void batchesReadTheirWeightsOnce();
    void eventsStandInTheOrderOfTime();
    void readsFollowEachOtherAndComputeWaitsForThem();
    void aRunIsToldFromBeginToEnd();
    void pinsOfTheRunAreReadOnce();
    void tokensOfAWindowEndAtThePlan();
    void whatFitsReadsNothingWhileDecoding();
    void aLargerBudgetIsNeverSlower_data();
    void aLargerBudgetIsNeverSlower();
    void aSlowerDeviceIsNeverFaster();
    void opsLoseToReadsOnlyWhileBytesMove();
    void readsThroughThePageCacheDependOnMemory_data();
    void readsThroughThePageCacheDependOnMemory();
    void theFrontEndTakesTheSoundThatThereIs();
    void measuredOpsAndReadsGoBeforeRates();
    void moreSlotsHideReads();
    void threadsHelpAsFarAsThereAreCores();
    void everyLoaderReadsTheSameBytes();
    void beamsGoThroughOnePassOfTheWeights();
};

void TestSimulate::readsTheBytesOfItsSteps() {
    test::Draw draw(11);
    for (int i = 0; i < 60; ++i) {
        const auto card = test::card(draw.of({"sample", "tiny.en", "base"}));
        RunConfig config = draw.config();
        draw.budget(card, config);
        const Plan p = test::planned(card, config);
        const std::int32_t windows = 1 + draw.below(3), tokens = 1 + draw.below(config.maxTokens);
        const auto trace = sim::simulate(p, test::board(), {tokens, windows});
        const auto summary = analyze::summarise(trace);
        QCOMPARE(summary.bytesRead, bytesOfSteps(p, windows, tokens));
        QCOMPARE(summary.tokens.size(), static_cast<std::size_t>(windows * tokens));
        QVERIFY(summary.arenaPeak <= p.peak.value);
        // The mean of the events of steps 2 to the one before the last.
        if (config.maxTokens >= 9 && tokens == config.maxTokens && windows == 1) {
            std::int64_t sum = 0, token = -1;
            for (const Event& e : trace.events) {
                if (e.kind == EventKind::Token)
                    token = static_cast<std::int64_t>(e.a);
                const bool counted = token >= 1 && token < tokens - 2;
                if (counted && e.kind == EventKind::Load)
                    sum += p.shards[e.id].bytes.value;
                if (counted && e.kind == EventKind::Read && e.id == trace::kRowRead)
                    sum += static_cast<std::int64_t>(e.b);
            }
            QCOMPARE(p.streamedPerToken.value, sum / (tokens - 3));
        }
    }
}

/// Windows that are decoded together take one pass of the weights, so fewer bytes and less time.
void TestSimulate::batchesReadTheirWeightsOnce() {
    std::int64_t bytes = 0;
    double time = 0;
    for (const std::int32_t batch : {4, 2, 1}) {
        RunConfig config = tight("60MiB");
        config.batch = batch;
        const auto trace =
            sim::simulate(test::planned(test::card("tiny.en"), config), test::board(), {0, 4});
        const auto s = analyze::summarise(trace);
        QCOMPARE(s.tokens.size(), std::size_t{80});
        QCOMPARE(count(trace, EventKind::Window), std::int64_t{4});
        QVERIFY(s.bytesRead > bytes && s.totalMs > time);
        bytes = s.bytesRead;
        time = s.totalMs;
    }
}

void TestSimulate::eventsStandInTheOrderOfTime() {
    test::Draw draw(12);
    for (int i = 0; i < 30; ++i) {
        const auto card = test::card("tiny.en");
        RunConfig config = draw.config();
        draw.budget(card, config);
        const Plan p = test::planned(card, config);
        const auto trace = sim::simulate(p, test::board(kBoards[i % 3]), {0, 2});
        base::Nanos now;
        std::array<base::Nanos, trace::kLaneCount> laneEnd{};
        for (const Event& e : trace.events) {
            QVERIFY(e.end() >= now); // spans stand where they end
            now = e.end();
            base::Nanos& end = laneEnd[static_cast<std::size_t>(e.lane)];
            QVERIFY(e.start() >= end);
            end = e.end();
        }
        QCOMPARE(trace.duration(), now);
    }
}

void TestSimulate::readsFollowEachOtherAndComputeWaitsForThem() {
    for (const char* name : kBoards) {
        BoardProfile board = test::board(name);
        board.overlapDirect = 0;
        RunConfig config = tight();
        config.loader = plan::Loader::Direct;
        const Plan p = test::planned(test::card("tiny.en"), config);
        const auto trace = sim::simulate(p, board, {0, 2});
        std::vector<std::uint64_t> issued(p.shards.size()), ready(p.shards.size());
        // The recurrence: a read begins when it was issued and the one before it is done.
        std::uint64_t lastEnd = 0;
        std::vector<Event> reads, loads;
        for (const Event& e : trace.events) {
            if (e.kind == EventKind::Load)
                loads.push_back(e);
            if (e.kind == EventKind::Read && e.lane == Lane::Io)
                reads.push_back(e);
        }
        QCOMPARE(reads.size(), loads.size());
        for (std::size_t i = 0; i < reads.size(); ++i) {
            QCOMPARE(reads[i].id, loads[i].id);
            QCOMPARE(reads[i].t_ns, std::max(lastEnd, loads[i].t_ns));
            lastEnd = reads[i].t_ns + reads[i].a;
            const auto& extents = p.shards[reads[i].id].extents;
            double time = 0;
            for (const plan::Extent& extent : extents)
                time += board.requestNs(plan::ReadPath::Direct, extent.bytes);
            QVERIFY(std::abs(static_cast<double>(reads[i].a) - time) <= 2);
        }
        // Each op that is first to use a load comes after its read.
        std::size_t next = 0;
        for (const Event& e : trace.events) {
            if (e.kind == EventKind::Read && e.lane == Lane::Io)
                ready[e.id] = e.t_ns + e.a, ++next;
            if (e.kind != EventKind::Compute)
                continue;
            const base::ShardId shard = p.shardOfOp[e.id];
            if (shard.valid() && !p.graph->ops[e.id].weights.empty())
                QVERIFY(ready[shard.index()] > 0 && ready[shard.index()] <= e.t_ns);
        }
        QCOMPARE(next, reads.size());
    }
}

void TestSimulate::aRunIsToldFromBeginToEnd() {
    const Plan p = test::planned(test::card("tiny.en"), tight());
    const auto trace = sim::simulate(p, test::board(), {7, 3});
    QVERIFY(trace.complete);
    QCOMPARE(trace.dropped, std::uint64_t{0});
    QCOMPARE(trace.events.front().kind, EventKind::RunBegin);
    QCOMPARE(trace.events.front().a, static_cast<std::uint64_t>(p.peak.value));
    QCOMPARE(trace.events.front().b, std::uint64_t{40} << 20);
    QCOMPARE(trace.events.back().kind, EventKind::RunEnd);
    QCOMPARE(trace.events.back().id, 0u);
    QCOMPARE(count(trace, EventKind::Window), std::int64_t{3});
    QCOMPARE(count(trace, EventKind::Token), std::int64_t{21});
    QCOMPARE(count(trace, EventKind::Phase), std::int64_t{3 * 4}); // steps are one phase
    const auto perWindow = p.graph->pass(model::PassKind::Encode).ops.size() +
                           p.graph->pass(model::PassKind::Cross).ops.size() +
                           7 * p.graph->pass(model::PassKind::Decode).ops.size();
    QCOMPARE(count(trace, EventKind::Compute), static_cast<std::int64_t>(3 * perWindow));
    QCOMPARE(trace.legend.planHash, p.hashText());
}

void TestSimulate::pinsOfTheRunAreReadOnce() {
    const Plan p = test::planned(test::card("tiny.en"), tight("60MiB"));
    const auto trace = sim::simulate(p, test::board(), {5, 4});
    std::vector<int> reads(p.shards.size());
    for (const Event& e : trace.events)
        if (e.kind == EventKind::Load)
            ++reads[e.id];
    std::size_t once = 0;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        QVERIFY(!p.shards[i].pinned || reads[i] == 1 || reads[i] == 4);
        once += p.shards[i].pinned && reads[i] == 1;
    }
    QVERIFY(once > 0);
}

void TestSimulate::tokensOfAWindowEndAtThePlan() {
    const Plan p = test::planned(test::card("tiny.en"), tight());
    QCOMPARE(count(sim::simulate(p, test::board(), {1, 1}), EventKind::Token), std::int64_t{1});
    QCOMPARE(count(sim::simulate(p, test::board(), {0, 1}), EventKind::Token), std::int64_t{20});
    // A wish beyond the plan is cut, and costs no memory.
    const auto most =
        sim::simulate(p, test::board(), {std::numeric_limits<std::int32_t>::max(), 1});
    QCOMPARE(count(most, EventKind::Token), std::int64_t{20});
}

void TestSimulate::whatFitsReadsNothingWhileDecoding() {
    RunConfig config;
    config.maxTokens = 9;
    const Plan p = test::planned(test::card("tiny.en"), config);
    const auto trace = sim::simulate(p, test::board(), {0, 2});
    int window = -1;
    bool decodes = false;
    for (const Event& e : trace.events) {
        window += e.kind == EventKind::Window;
        if (e.kind == EventKind::Phase)
            decodes = e.id == static_cast<std::uint32_t>(model::PassKind::Decode);
        const bool isRead = e.kind == EventKind::Read || e.kind == EventKind::Load;
        QVERIFY(!isRead || !decodes);
        QVERIFY(e.kind != EventKind::Load || window == 0);
    }
}

void TestSimulate::aLargerBudgetIsNeverSlower_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"sample", "tiny.en", "base", "small", "large-v3"})
        QTest::newRow(name) << name;
}

void TestSimulate::aLargerBudgetIsNeverSlower() {
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

void TestSimulate::aSlowerDeviceIsNeverFaster() {
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
void TestSimulate::opsLoseToReadsOnlyWhileBytesMove() {
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
void TestSimulate::readsThroughThePageCacheDependOnMemory_data() {
    QTest::addColumn<QString>("loader");
    for (const char* loader : {"pread", "mmap", "populate"})
        QTest::newRow(loader) << loader;
}

void TestSimulate::readsThroughThePageCacheDependOnMemory() {
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
    board.machine.cgroupLimit = base::mebibytes(512);
    QCOMPARE(perToken(), roomy);
}

void TestSimulate::theFrontEndTakesTheSoundThatThereIs() {
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
void TestSimulate::measuredOpsAndReadsGoBeforeRates() {
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
                op.shape = {keys[i], source, 2, 1, out->cost.flops, 0, 0};
                for (const model::WeightUse& use : out->weights)
                    op.shape.weightBytes +=
                        (p.card->tensor(use.tensor).bytesPerRow() * use.rowCount).real();
                op.ns = 123456;
                board.measured.ops.push_back(op);
            }
        }
    QVERIFY(out);
    board.measured.reads = {{plan::Loader::Pread, 2, 1000, 1e8, 0, 0, 0, 1}};
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

void TestSimulate::moreSlotsHideReads() {
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

void TestSimulate::threadsHelpAsFarAsThereAreCores() {
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

void TestSimulate::everyLoaderReadsTheSameBytes() {
    std::int64_t bytes = -1;
    for (const char* loader : {"auto", "mmap", "populate", "pread", "direct", "uring"}) {
        RunConfig config = tight();
        QVERIFY(plan::setKnob(config, "--loader", loader).ok());
        const auto trace =
            sim::simulate(test::planned(test::card("tiny.en"), config), test::board());
        const auto summary = analyze::summarise(trace);
        QVERIFY(summary.totalMs > 0 && summary.readMs > 0);
        QVERIFY(bytes < 0 || bytes == summary.bytesRead);
        bytes = summary.bytesRead;
    }
}

void TestSimulate::beamsGoThroughOnePassOfTheWeights() {
    RunConfig config;
    config.pin.kind = plan::PinChoice::Kind::None;
    config.maxTokens = 12;
    const auto card = test::card("tiny.en");
    const auto one = sim::simulate(test::planned(card, config), test::board(), {0, 2});
    config.beam = 5;
    const Plan p = test::planned(card, config);
    const auto five = sim::simulate(p, test::board(), {0, 2});
    const auto bytes = [](const trace::Trace& trace, bool rows) {
        std::uint64_t sum = 0;
        for (const Event& e : trace.events)
            if (e.kind == EventKind::Read && (e.id == trace::kRowRead) == rows)
                sum += e.b;
        return sum;
    };
    QCOMPARE(bytes(five, false), bytes(one, false));
    QVERIFY(bytes(five, true) > bytes(one, true));
    // The steps of a window, and then its tokens.
    std::int64_t steps = 0, tokens = 0, windows = 0;
    for (const Event& e : five.events) {
        if (e.kind == EventKind::Step) {
            QCOMPARE(e.id, steps == 0 ? 1u : 5u);
            QCOMPARE(static_cast<std::int64_t>(e.a), steps++);
            QCOMPARE(static_cast<std::int64_t>(e.b), windows);
        } else if (e.kind == EventKind::Token) {
            QCOMPARE(steps, std::int64_t{12});
            QCOMPARE(static_cast<std::int64_t>(e.a), tokens++);
            if (tokens == steps)
                steps = tokens = 0, ++windows;
        }
    }
    QCOMPARE(windows, std::int64_t{2});
    const auto a = analyze::summarise(one), b = analyze::summarise(five);
    QCOMPARE(b.tokens.size(), a.tokens.size());
    QVERIFY(b.decodeMsPerToken >= a.decodeMsPerToken);
    QVERIFY(b.decodeMsPerToken < 5 * a.decodeMsPerToken);
    QCOMPARE(b.arenaPeak, p.peak.value);
}

QTEST_GUILESS_MAIN(TestSimulate)
#include "tst_simulate.moc"
