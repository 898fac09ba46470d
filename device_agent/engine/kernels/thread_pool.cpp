// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/thread_pool.h"

namespace shardscope::engine::kernels {

namespace {

// About 10 to 40 microseconds: longer than the serial pieces between two loops of a decoding step,
// shorter than what a sleeping neighbour (the reading thread on a small board) would miss.
constexpr int kSpins = 1000;

void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#elif defined(__arm__)
    asm volatile("yield" ::: "memory");
#endif
}

constexpr std::uint64_t kOneEpoch = std::uint64_t{1} << 32;

std::uint32_t untaken(std::uint64_t ticket) {
    return static_cast<std::uint32_t>(ticket);
}

} // namespace

ThreadPool::ThreadPool(unsigned threads) : m_threads(threads == 0 ? 1 : threads) {
    m_workers.reserve(m_threads - 1);
    for (unsigned worker = 1; worker < m_threads; ++worker)
        m_workers.emplace_back([this, worker] { workerLoop(worker); });
}

ThreadPool::~ThreadPool() {
    m_stop.store(true);
    m_wake.fetch_add(1);
    m_wake.notify_all();
    for (std::thread& worker : m_workers)
        worker.join();
}

bool ThreadPool::runOneTask(unsigned worker) {
    std::uint64_t ticket = m_ticket.load(std::memory_order_acquire);
    while (untaken(ticket) > 0) {
        const Call call = m_call.load(std::memory_order_relaxed);
        void* const context = m_context.load(std::memory_order_relaxed);
        const std::uint32_t tasks = m_tasks.load(std::memory_order_relaxed);
        if (!m_ticket.compare_exchange_weak(
                ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire))
            continue;
        call(context, tasks - untaken(ticket), worker);
        if (m_unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
            m_unfinished.notify_one();
        return true;
    }
    return false;
}

void ThreadPool::run(std::size_t tasks, Call call, void* context) {
    const auto count = static_cast<std::uint32_t>(tasks);
    m_call.store(call, std::memory_order_relaxed);
    m_context.store(context, std::memory_order_relaxed);
    m_tasks.store(count, std::memory_order_relaxed);
    m_unfinished.store(count, std::memory_order_relaxed);
    const std::uint64_t epoch = m_ticket.load(std::memory_order_relaxed) & ~(kOneEpoch - 1);
    m_ticket.store((epoch + kOneEpoch) | count, std::memory_order_release);
    m_wake.fetch_add(1);
    m_wake.notify_all();

    while (runOneTask(0)) {
    }
    for (int spin = 0; m_unfinished.load(std::memory_order_acquire) != 0; ++spin) {
        if (spin < kSpins) {
            pauseBriefly();
            continue;
        }
        const std::uint32_t left = m_unfinished.load(std::memory_order_acquire);
        if (left != 0)
            m_unfinished.wait(left, std::memory_order_acquire);
    }
}

void ThreadPool::workerLoop(unsigned worker) {
    for (;;) {
        const std::uint32_t seen = m_wake.load();
        if (m_stop.load())
            return;
        if (runOneTask(worker)) {
            while (runOneTask(worker)) {
            }
            continue;
        }
        bool woken = false;
        for (int spin = 0; spin < kSpins && !woken; ++spin) {
            pauseBriefly();
            woken = m_wake.load(std::memory_order_relaxed) != seen;
        }
        if (!woken)
            m_wake.wait(seen);
    }
}

} // namespace shardscope::engine::kernels
