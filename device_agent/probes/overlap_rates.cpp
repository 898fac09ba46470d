// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/overlap_rates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

#include "device_agent/probes/kernel_rates.h"
#include "device_agent/probes/rate_board.h"
#include "device_agent/probes/stopwatch.h"

namespace shardscope::probes {
namespace {

using engine::kernels::ThreadPool;

constexpr std::size_t kRequest = std::size_t{1} << 20;
constexpr double kThrottle = 64e6;

/// Reads one request after the other until it is destroyed; a limit of 0 does not hold back.
class Reader {
public:
    Reader(int fd, std::size_t size, double limit)
        : m_thread([this, fd, size, limit] { loop(fd, size, limit); }) {}
    ~Reader() {
        m_stop.store(true);
        m_thread.join();
    }

private:
    void loop(int fd, std::size_t size, double limit) {
        const PageBuffer slots(4 * kRequest);
        const std::size_t pieces = std::max<std::size_t>(size / kRequest, 1);
        auto due = std::chrono::steady_clock::now();
        for (std::size_t i = 0; slots.get() && !m_stop.load(); ++i) {
            const auto at = static_cast<off_t>(i % pieces * kRequest);
            if (::pread(fd, slots.get() + i % 4 * kRequest, kRequest, at) <= 0)
                return;
            if (limit <= 0)
                continue;
            due += std::chrono::microseconds(static_cast<long>(kRequest / limit * 1e6));
            std::this_thread::sleep_until(due);
        }
    }
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

/// By the best rounds, or by what each round lost against its neighbour: on a busy machine the one
/// or the other takes other programs for a loss, so the lesser counts.
double shareLost(const Rounds& alone, const Rounds& together) {
    const double best = together.best() / alone.best();
    return std::clamp(std::min(best, together.medianAgainst(alone)) - 1, 0.0, 1.0);
}

} // namespace

OverlapRates
measureOverlap(const TestFile& file, ThreadPool& pool, std::size_t weights, int rounds) {
    constexpr double kSeconds = 0.08; // several requests of slow storage, hundreds of fast
    KernelRates kernels(pool.threads(), weights);
    const auto passes =
        static_cast<int>(std::clamp(kSeconds / kernels.streamSeconds(pool), 1.0, 1000.0));
    const auto decode = [&] {
        return secondsOf([&] {
            for (int i = 0; i < passes; ++i)
                kernels.stream(pool);
        });
    };
    const auto beside = [&](int fd, double limit) {
        const Reader reader(fd, file.size(), limit);
        return decode();
    };
    const int direct = file.isInMemory() ? -1 : file.openDirect();
    Rounds alone, cached, past, throttled;
    for (int round = 0; round < rounds; ++round) {
        alone.add(decode());
        cached.add(beside(file.descriptor(), 0));
        throttled.add(beside(file.descriptor(), kThrottle));
        if (direct >= 0)
            past.add(beside(direct, 0));
    }
    OverlapRates rates{shareLost(alone, cached), {}, shareLost(alone, throttled)};
    if (direct >= 0) {
        rates.direct = shareLost(alone, past);
        ::close(direct);
    }
    return rates;
}

} // namespace shardscope::probes
