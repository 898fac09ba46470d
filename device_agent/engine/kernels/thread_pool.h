// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace shardscope::engine::kernels {

/// A fixed set of threads that share one loop at a time; the caller is worker 0.
///
/// The hand-off takes microseconds: idle workers spin shortly, then sleep on a futex. A worker that
/// the system does not schedule in time delays nothing, since the others take its tasks.
/// Which worker runs a task is not determined, so no result may depend on it.
/// Thread-compatible: one thread calls parallelFor, always the same or with its own ordering.
class ThreadPool {
public:
    /// `threads` >= 1 counts the caller; 1 starts none and runs every loop inline.
    explicit ThreadPool(unsigned threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    unsigned threads() const { return m_threads; }

    /// Calls fn(task, worker) for each task in [0, tasks), worker in [0, threads()); returns when
    /// all are done. Does not allocate; not reentrant.
    template <typename Fn>
    void parallelFor(std::size_t tasks, Fn&& fn) {
        if (m_threads == 1 || tasks <= 1) {
            for (std::size_t task = 0; task < tasks; ++task)
                fn(task, 0u);
            return;
        }
        using Callable = std::remove_reference_t<Fn>;
        const auto call = [](void* context, std::size_t task, unsigned worker) {
            (*static_cast<Callable*>(context))(task, worker);
        };
        run(tasks, call, const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
    }

private:
    using Call = void (*)(void* context, std::size_t task, unsigned worker);

    void run(std::size_t tasks, Call call, void* context);
    void workerLoop(unsigned worker);
    bool runOneTask(unsigned worker);

    // The open loop: epoch in the high half, tasks not yet taken in the low half. While the low
    // half is not zero, the three fields below do not change; so a worker that takes a task by
    // compare-and-swap has read the fields of that very loop.
    alignas(64) std::atomic<std::uint64_t> m_ticket{0};
    std::atomic<Call> m_call{nullptr};
    std::atomic<void*> m_context{nullptr};
    std::atomic<std::uint32_t> m_tasks{0};

    alignas(64) std::atomic<std::uint32_t> m_unfinished{0};
    alignas(64) std::atomic<std::uint32_t> m_wake{0};
    std::atomic<bool> m_stop{false};

    unsigned m_threads = 1;
    std::vector<std::thread> m_workers;
};

} // namespace shardscope::engine::kernels
