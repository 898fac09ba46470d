// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/read_meter.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

#include "device_agent/probes/process_memory.h"
#include "device_agent/probes/stopwatch.h"

namespace shardscope::probes {
namespace {

using Clock = std::chrono::steady_clock;
using plan::ReadPath;

constexpr std::size_t kFewest = 8, kMost = 20000; ///< requests of a point

double quantile(std::vector<double> values, double share) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(
        values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

} // namespace

ReadMeter::ReadMeter(const TestFile& file) : m_file(file), m_direct(file.openDirect()) {}

ReadMeter::~ReadMeter() {
    if (m_direct >= 0)
        ::close(m_direct);
}

/// `depth` threads with one request under way each: works wherever there are threads.
ReadMeter::Sample
ReadMeter::read(ReadPath path, std::size_t bytes, int depth, double seconds) const {
    const int fd = path == ReadPath::Direct ? m_direct : m_file.descriptor();
    const std::size_t pieces = m_file.size() / bytes;
    // An odd step passes over all of a power of two of pieces, far from one to the next.
    const std::size_t step = path == ReadPath::Direct && pieces > 4 ? pieces / 2 - 1 : 1;
    const std::size_t most = path == ReadPath::Buffered ? pieces : kMost; // cold once
    std::atomic<std::size_t> next{0};
    std::atomic<bool> isGood{true};
    std::vector<std::vector<double>> times(static_cast<std::size_t>(depth));
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    Clock::time_point begin;
    const auto work = [&](std::vector<double>& mine) {
        // Slots of a run are larger than the caches next to a core: cached reads change place.
        const std::size_t places = path == ReadPath::Cached ? 4 : 1;
        const PageBuffer buffer(bytes * places);
        mine.reserve(kMost);
        ready.fetch_add(1);
        while (!go.load())
            std::this_thread::yield();
        for (std::size_t n = 0; isGood && buffer.get(); ++n) {
            const std::size_t i = next.fetch_add(1);
            if (i >= most || (i >= kFewest && secondsSince(begin) > seconds))
                return;
            const auto at = static_cast<off_t>(i * step % pieces * bytes);
            const auto start = Clock::now();
            if (::pread(fd, buffer.get() + n % places * bytes, bytes, at) !=
                static_cast<ssize_t>(bytes))
                isGood = false;
            mine.push_back(secondsSince(start));
        }
    };
    std::vector<std::thread> threads;
    for (std::vector<double>& mine : times)
        threads.emplace_back([&work, &mine] { work(mine); });
    while (ready.load() < depth)
        std::this_thread::yield();
    begin = Clock::now();
    go.store(true);
    for (std::thread& t : threads)
        t.join();
    Sample all{{}, secondsSince(begin), 0};
    for (const std::vector<double>& mine : times)
        all.seconds.insert(all.seconds.end(), mine.begin(), mine.end());
    all.requests = isGood ? all.seconds.size() : 0;
    return all;
}

std::optional<ReadMeter::Sample>
ReadMeter::sample(ReadPath path, std::size_t bytes, int depth, double seconds) {
    if (m_file.size() < bytes || (path == ReadPath::Direct && !hasDirect()))
        return std::nullopt;
    if (path == ReadPath::Cached) {
        if (m_file.residentShare() < 0.98)
            m_file.warmCache();
        return read(path, bytes, depth, seconds);
    }
    if (m_file.isInMemory() || !m_file.dropCache())
        return std::nullopt;
    const ProcessMemory memory = ProcessMemory::open();
    const auto before = memory.ioBytes();
    const Sample found = read(path, bytes, depth, seconds);
    const auto after = memory.ioBytes();
    const double asked = static_cast<double>(found.requests * bytes);
    // Without counters O_DIRECT is trusted; cold pages may have been read by somebody else.
    const bool isDevice =
        before && after ? (*after - *before).real() >= 0.9 * asked : path == ReadPath::Direct;
    return isDevice ? std::optional(found) : std::nullopt;
}

ReadMeter::Point& ReadMeter::pointOf(ReadPath path, std::size_t bytes, int depth) {
    const base::Bytes size(static_cast<std::int64_t>(bytes));
    for (Point& p : m_points)
        if (p.best.path == path && p.best.bytes == size && p.best.depth == depth)
            return p;
    return m_points.emplace_back(Point{{path, size, depth, 0, 0, 0}, {}, {}});
}

bool ReadMeter::measure(ReadPath path, std::size_t bytes, int depth, double seconds) {
    const auto found = sample(path, bytes, depth, seconds);
    if (!found || found->requests == 0)
        return false;
    Point& point = pointOf(path, bytes, depth);
    const double median = std::max(1.0, quantile(found->seconds, 0.5) * 1e9);
    // One request after the other takes what the usual one takes; the clock on the wall also counts
    // the times at which another program had the processor.
    const double rate = depth == 1 && path != ReadPath::Buffered
                            ? static_cast<double>(bytes) / median * 1e9
                            : static_cast<double>(found->requests * bytes) / found->elapsed;
    point.medians.push_back(median);
    point.seconds.insert(point.seconds.end(), found->seconds.begin(), found->seconds.end());
    point.best.p50Ns = point.medians.size() == 1 ? median : std::min(point.best.p50Ns, median);
    point.best.bytesPerSecond = std::max(point.best.bytesPerSecond, rate);
    point.best.p99Ns = std::max(point.best.p50Ns, quantile(point.seconds, 0.99) * 1e9);
    return true;
}

std::vector<plan::ReadPoint> ReadMeter::points() const {
    std::vector<plan::ReadPoint> all;
    for (const Point& p : m_points)
        all.push_back(p.best);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.path, a.bytes, a.depth) < std::tuple(b.path, b.bytes, b.depth);
    });
    return all;
}

double ReadMeter::spread() const {
    std::vector<double> spreads;
    for (const Point& p : m_points)
        if (p.medians.size() > 1)
            spreads.push_back(
                *std::max_element(p.medians.begin(), p.medians.end()) / p.best.p50Ns - 1);
    return spreads.empty() ? 0 : quantile(spreads, 0.5);
}

} // namespace shardscope::probes
