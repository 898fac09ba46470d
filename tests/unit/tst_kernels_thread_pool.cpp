// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "device_agent/engine/kernels/thread_pool.h"

using shardscope::engine::kernels::ThreadPool;

class TestThreadPool : public QObject {
    Q_OBJECT
private slots:
    void everyTaskRunsOnce_data() {
        QTest::addColumn<unsigned>("threads");
        for (const unsigned threads : {1u, 2u, 3u, 8u})
            QTest::addRow("%u threads", threads) << threads;
    }
    void everyTaskRunsOnce() {
        QFETCH(const unsigned, threads);
        ThreadPool pool(threads);
        QCOMPARE(pool.threads(), threads);
        std::vector<std::atomic<int>> runs(100);
        std::atomic<unsigned> worst{0};
        std::size_t loops = 0;
        for (; loops < 3000; ++loops)
            pool.parallelFor(loops % 100, [&](std::size_t task, unsigned worker) {
                runs[task].fetch_add(1, std::memory_order_relaxed);
                unsigned seen = worst.load();
                while (worker > seen && !worst.compare_exchange_weak(seen, worker)) {
                }
            });
        for (std::size_t task = 0; task < 100; ++task)
            QCOMPARE(runs[task].load(), static_cast<int>(loops / 100 * (99 - task)));
        QVERIFY(worst.load() < threads);
    }

    void whatTasksWroteIsSeenAfterTheLoop() {
        ThreadPool pool(4);
        std::vector<std::size_t> squares(64);
        for (std::size_t round = 0; round < 2000; ++round) {
            pool.parallelFor(
                squares.size(), [&](std::size_t task, unsigned) { squares[task] = task * round; });
            for (std::size_t i = 0; i < squares.size(); ++i)
                QCOMPARE(squares[i], i * round);
        }
    }

    void sleepingWorkersWakeUp() {
        ThreadPool pool(3);
        std::atomic<int> runs{0};
        for (int round = 0; round < 20; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2)); // longer than they spin
            pool.parallelFor(8, [&](std::size_t, unsigned) { ++runs; });
        }
        QCOMPARE(runs.load(), 160);
    }

    void aPoolThatNeverRanStops() { const ThreadPool pool(4); }
};

QTEST_APPLESS_MAIN(TestThreadPool)
#include "tst_kernels_thread_pool.moc"
