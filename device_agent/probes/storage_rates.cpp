// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/storage_rates.h"

#include <algorithm>

#include "device_agent/probes/fault_costs.h"
#include "device_agent/probes/mount_facts.h"
#include "device_agent/probes/overlap_rates.h"
#include "device_agent/probes/read_meter.h"
#include "device_agent/probes/stopwatch.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

using base::Bytes;
using engine::kernels::ThreadPool;
using plan::ReadPath;

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

struct Cell {
    ReadPath path;
    std::size_t bytes;
    int depth;
};

/// Depth 8 is what the uring loader keeps under way; 32 shows what a device could give at most.
std::vector<Cell> cells(bool isQuick) {
    if (isQuick)
        return {{ReadPath::Cached, 64 * kKiB, 1},  {ReadPath::Cached, kMiB, 1},
                {ReadPath::Direct, 64 * kKiB, 1},  {ReadPath::Direct, kMiB, 1},
                {ReadPath::Direct, 256 * kKiB, 8}, {ReadPath::Buffered, kMiB, 1}};
    std::vector<Cell> all;
    for (const std::size_t bytes : {4 * kKiB, 64 * kKiB, 256 * kKiB, kMiB, 4 * kMiB})
        all.push_back({ReadPath::Cached, bytes, 1});
    for (const std::size_t bytes : {64 * kKiB, 256 * kKiB, kMiB, 4 * kMiB})
        all.push_back({ReadPath::Buffered, bytes, 1});
    for (const std::size_t bytes : {4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB, kMiB, 4 * kMiB}) {
        all.push_back({ReadPath::Direct, bytes, 1});
        all.push_back({ReadPath::Direct, bytes, 8});
        if (bytes <= 256 * kKiB)
            all.push_back({ReadPath::Direct, bytes, 32});
    }
    return all;
}

const plan::ReadPoint* find(const plan::BoardProfile& board, ReadPath path, std::size_t bytes) {
    for (const plan::ReadPoint& p : board.reads)
        if (p.path == path && p.bytes.size() == bytes && p.depth == 1)
            return &p;
    return nullptr;
}

/// The two numbers of the first part: of cached reads, as the default loader reads a model that was
/// read before. A read of s bytes costs latency + s / rate.
void writeCachedCost(plan::BoardProfile& board) {
    const plan::ReadPoint* small = find(board, ReadPath::Cached, 64 * kKiB);
    const plan::ReadPoint* large = find(board, ReadPath::Cached, kMiB);
    if (!small || !large)
        return;
    constexpr double kBytes = kMiB - 64 * kKiB;
    const double perByte =
        std::max((large->p50Ns - small->p50Ns) / kBytes, 0.5 * large->p50Ns / kMiB);
    board.readBytesPerSecond = 1e9 / perByte;
    board.readLatencyNs = std::max(0.0, small->p50Ns - perByte * 64 * kKiB);
}

void writeWords(plan::BoardProfile& board, const TestFile& file, bool hasDirect) {
    board.machine.fileSystem = mountWordsOf(file.descriptor());
    std::string words;
    const plan::ReadPoint* large = find(board, ReadPath::Direct, kMiB);
    const plan::ReadPoint* cold = find(board, ReadPath::Buffered, kMiB);
    if (large)
        words = base::formatted(
            "1 MiB O_DIRECT reads %s (p50 %s, p99 %s)",
            base::rateText(large->bytesPerSecond).c_str(),
            base::timeText(base::Nanos(static_cast<std::int64_t>(large->p50Ns))).c_str(),
            base::timeText(base::Nanos(static_cast<std::int64_t>(large->p99Ns))).c_str());
    else if (cold)
        words = "cold buffered reads " + base::rateText(cold->bytesPerSecond);
    else
        words = "device not measured: the page cache served the reads";
    if (!hasDirect)
        words += "; O_DIRECT is refused here";
    const std::string& mount = board.machine.fileSystem;
    board.storage = (mount.empty() ? "" : mount + "; ") + words;
    for (const auto& [path, key] :
         {std::pair{ReadPath::Direct, "reads.direct"},
          std::pair{ReadPath::Buffered, "reads.buffered"}})
        if (!board.hasReads(path))
            board.sources.emplace_back(
                key, "not measured: it could not be told from the page cache here; what the "
                     "profile answers is derived from cached reads");
}

void measureReads(ReadMeter& meter, bool isQuick, const ProbeProgress& progress) {
    constexpr double kPatience = 8; // seconds: slow storage is looked at once
    const int rounds = isQuick ? 1 : 2;
    const double seconds = isQuick ? 0.08 : 0.2;
    double spent = 0;
    for (int round = 0; round < rounds && spent < kPatience; ++round) {
        tell(progress, base::formatted("storage: round %d of %d", round + 1, rounds));
        spent += secondsOf([&] {
            for (const Cell& cell : cells(isQuick)) // what cannot be told is left out
                (void)meter.measure(cell.path, cell.bytes, cell.depth, seconds);
        });
    }
}

} // namespace

base::Status measureStorage(
    const StorageOptions& options, ThreadPool& pool, const ProbeProgress& progress,
    plan::BoardProfile& board) {
    tell(progress, "storage: writing a test file into " + options.folder);
    const auto file = TestFile::create(
        options.folder, options.isQuick ? 64 * kMiB : 256 * kMiB, options.isQuick ? 1 : 4);
    if (!file)
        return file.error();
    ReadMeter meter(*file);
    measureReads(meter, options.isQuick, progress);
    board.reads = meter.points();
    writeCachedCost(board);
    if (board.readBytesPerSecond <= 0)
        return base::Error{
            base::ErrorCode::Failed, "no memory for reads", options.folder, "free some memory"};
    tell(progress, "page faults");
    const FaultCosts faults = measureFaults(*file);
    board.pageFaultNs = faults.populateNs;
    board.minorFaultNs = faults.minorNs;
    board.mappedBytesPerSecond = faults.mappedBytesPerSecond;
    board.populatedBytesPerSecond = faults.populatedBytesPerSecond;
    tell(progress, "computing while reading");
    const OverlapRates overlap =
        measureOverlap(*file, pool, options.streamed.size(), options.isQuick ? 4 : 8);
    board.overlap = overlap.cached;
    board.overlapDirect = overlap.direct;
    board.overlapThrottled = overlap.throttled;
    writeWords(board, *file, meter.hasDirect());
    if (!board.noise)
        board.noise.emplace();
    board.noise->reads = meter.spread();
    return {};
}

} // namespace shardscope::probes
