// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/closing.h"
#include "sim_engine/sim/simulate.h"
#include "tight_runs.h"

using namespace shardscope;
using base::Bytes;
using plan::BoardProfile;
using plan::Plan;
using plan::RunConfig;
using plan::Step;
using plan::StepKind;
using test::kBoards;
using test::tight;
using trace::Event;
using trace::EventKind;
using trace::Lane;

namespace {

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
