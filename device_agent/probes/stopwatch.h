// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <utility>

namespace shardscope::probes {

/// Seconds of the processor that this thread has had: other programs do not count. For work that
/// runs in the calling thread alone.
inline double threadSeconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Seconds of the processor that fn() takes in this thread.
struct ThreadClock {
    template <typename Fn>
    static double of(Fn&& fn) {
        const double begin = threadSeconds();
        fn();
        return threadSeconds() - begin;
    }
};

/// Seconds that fn() takes.
template <typename Fn>
double secondsOf(Fn&& fn) {
    const auto begin = std::chrono::steady_clock::now();
    fn();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct WallClock {
    template <typename Fn>
    static double of(Fn&& fn) {
        return secondsOf(fn);
    }
};

/// Times of one call of fn(), after one that warms up.
struct CallTimes {
    double median = 0;
    double quickest = 0; ///< the call that other programs disturbed least
};

/// Calls fn() again and again. A sample calls often enough to last a millisecond or two; slow
/// functions get fewer samples, so that all takes about `budget` seconds (but three samples at
/// least).
template <typename Clock = WallClock, typename Fn>
CallTimes callTimes(Fn&& fn, double budget = 0.04) {
    constexpr std::size_t kMostSamples = 32;
    constexpr double kSampleSeconds = 2e-3;
    const double first = std::max(Clock::of(fn), 1e-9);
    const auto calls = static_cast<std::size_t>(std::clamp(kSampleSeconds / first, 1.0, 1e5));
    const double each = first * static_cast<double>(calls);
    const auto samples =
        static_cast<std::size_t>(std::clamp(budget / each, 3.0, double{kMostSamples}));
    std::array<double, kMostSamples> times{};
    for (std::size_t i = 0; i < samples; ++i)
        times[i] = Clock::of([&] {
                       for (std::size_t call = 0; call < calls; ++call)
                           fn();
                   }) /
                   static_cast<double>(calls);
    std::sort(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(samples));
    return {times[samples / 2], times[0]};
}

/// The median alone.
template <typename Fn>
double medianSeconds(Fn&& fn, double budget = 0.04) {
    return callTimes(std::forward<Fn>(fn), budget).median;
}

} // namespace shardscope::probes
