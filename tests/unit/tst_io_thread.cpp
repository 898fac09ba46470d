// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <deque>

#include "device_agent/engine/weights/io_thread.h"

using namespace shardscope;
using base::ShardId;

namespace {

constexpr std::uint32_t kShards = 12;

/// Takes several loads at once; each needs so many calls until it is done.
class SlowLoader final : public engine::ShardLoader {
public:
    SlowLoader(std::size_t depth, int calls) : m_depth(depth), m_calls(calls) {}

    std::size_t depth() const override { return m_depth; }
    void begin(const plan::Shard& shard, std::byte* place) override {
        m_underWay.push_back(m_calls);
        mostUnderWay = std::max(mostUnderWay, m_underWay.size());
        begun.push_back(shard.bytes.value);
        *place = static_cast<std::byte>(shard.bytes.value);
    }
    base::Result<bool> advance() override {
        if (static_cast<std::int64_t>(m_done) == failsAt)
            return base::Error{base::ErrorCode::Failed, "the device is gone", "test", ""};
        if (--m_underWay.front() > 0)
            return false;
        m_underWay.pop_front();
        ++m_done;
        return true;
    }
    plan::Loader kind() const override { return plan::Loader::Uring; }

    std::int64_t failsAt = -1; ///< after so many loads
    std::size_t mostUnderWay = 0;
    std::vector<std::int64_t> begun; ///< bytes of the shards

private:
    std::size_t m_depth;
    int m_calls;
    std::deque<int> m_underWay;
    std::size_t m_done = 0;
};

plan::Plan planOfShards() {
    plan::Plan plan;
    for (std::uint32_t i = 0; i < kShards; ++i) {
        plan.shards.emplace_back();
        plan.shards.back().bytes = base::Bytes(i + 1);
    }
    return plan;
}

} // namespace

class TestIoThread : public QObject {
    Q_OBJECT

private slots:
    void loadsInTheOrderOfIssue_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<int>("calls");
        QTest::newRow("one at a time") << 1 << 1;
        QTest::newRow("one at a time, in pieces") << 1 << 3;
        QTest::newRow("four, in pieces") << 4 << 3;
        QTest::newRow("more than there are") << 99 << 2;
    }
    void loadsInTheOrderOfIssue() {
        QFETCH(int, depth);
        QFETCH(int, calls);
        const plan::Plan plan = planOfShards();
        SlowLoader loader(static_cast<std::size_t>(depth), calls);
        trace::EventRing events(256);
        const engine::RunClock clock;
        std::array<std::byte, kShards> memory{};
        constexpr int kRounds = 5;
        {
            engine::IoThread io(plan, loader, clock, &events);
            for (int round = 0; round < kRounds; ++round) {
                for (std::uint32_t i = 0; i < kShards; ++i)
                    io.issue(ShardId(i), &memory[i]);
                for (std::uint32_t i = 0; i < kShards; ++i) {
                    io.await(ShardId(i));
                    QCOMPARE(memory[i], static_cast<std::byte>(i + 1));
                }
            }
            io.drain();
            QVERIFY(!io.failed());
        }
        QVERIFY(loader.mostUnderWay <= static_cast<std::size_t>(depth));
        QCOMPARE(loader.begun.size(), std::size_t{kRounds * kShards});
        for (std::size_t i = 0; i < loader.begun.size(); ++i)
            QCOMPARE(loader.begun[i], static_cast<std::int64_t>(i % kShards + 1));
        checkSpans(events, kRounds * kShards);
    }

    void theFirstFailureEndsAllWaiting() {
        const plan::Plan plan = planOfShards();
        SlowLoader loader(3, 2);
        loader.failsAt = 4;
        const engine::RunClock clock;
        std::array<std::byte, kShards> memory{};
        engine::IoThread io(plan, loader, clock, nullptr);
        for (std::uint32_t i = 0; i < kShards; ++i)
            io.issue(ShardId(i), &memory[i]);
        io.drain();
        QVERIFY(io.failed());
        QCOMPARE(io.error().what, std::string("the device is gone"));
        io.await(ShardId(kShards - 1));
        io.stop();
    }

    void whatHasBegunIsEndedWhenStopped() {
        const plan::Plan plan = planOfShards();
        SlowLoader loader(2, 3);
        const engine::RunClock clock;
        std::array<std::byte, kShards> memory{};
        engine::IoThread io(plan, loader, clock, nullptr);
        for (std::uint32_t i = 0; i < kShards; ++i)
            io.issue(ShardId(i), &memory[i]);
        io.await(ShardId(0u));
        io.stop();
        io.stop();
        QVERIFY(!io.failed());
        QVERIFY(!loader.begun.empty());
    }

private:
    /// Every load has its span, in order, and none begins before the one before it ends.
    static void checkSpans(trace::EventRing& ring, std::size_t count) {
        std::vector<trace::Event> events(count + 1);
        QCOMPARE(ring.drain(events), count);
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < count; ++i) {
            QCOMPARE(events[i].kind, trace::EventKind::Read);
            QCOMPARE(events[i].id, static_cast<std::uint32_t>(i % kShards));
            QVERIFY(events[i].t_ns >= end);
            end = events[i].t_ns + events[i].a;
        }
    }
};

QTEST_GUILESS_MAIN(TestIoThread)
#include "tst_io_thread.moc"
