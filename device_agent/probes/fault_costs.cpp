// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/fault_costs.h"

#include <algorithm>
#include <sys/mman.h>

#include "device_agent/probes/process_memory.h"
#include "device_agent/probes/stopwatch.h"

namespace shardscope::probes {
namespace {

/// Maps the begin of the file, touches it page by page unless that is done by populating, unmaps.
void passOver(const TestFile& file, std::size_t bytes, bool populate) {
    const int flags = MAP_PRIVATE | (populate ? MAP_POPULATE : 0);
    void* const at = ::mmap(nullptr, bytes, PROT_READ, flags, file.descriptor(), 0);
    if (at == MAP_FAILED)
        return;
    const volatile auto* const pages = static_cast<const volatile char*>(at);
    for (std::size_t i = 0; !populate && i < bytes; i += kProbePage)
        (void)pages[i];
    ::munmap(at, bytes);
}

double cachedNs(const TestFile& file, bool populate) {
    const std::size_t bytes = std::min(file.size(), std::size_t{8} << 20);
    const double seconds = callTimes([&] { passOver(file, bytes, populate); }, 0.06).quickest;
    return seconds * 1e9 / static_cast<double>(bytes / kProbePage);
}

std::optional<double> coldRate(const TestFile& file, bool populate) {
    const std::size_t bytes = std::min(file.size(), std::size_t{64} << 20);
    double best = 0;
    for (int round = 0; round < 3; ++round) {
        if (file.isInMemory() || !file.dropCache())
            return std::nullopt;
        const ProcessMemory memory = ProcessMemory::open();
        const auto before = memory.ioBytes();
        const double seconds = secondsOf([&] { passOver(file, bytes, populate); });
        const auto after = memory.ioBytes();
        if (!before || !after || (*after - *before).real() < 0.9 * static_cast<double>(bytes))
            return std::nullopt;
        best = std::max(best, static_cast<double>(bytes) / seconds);
        if (seconds > 0.5)
            break; // slow storage: one look is enough
    }
    return best;
}

} // namespace

FaultCosts measureFaults(const TestFile& file) {
    FaultCosts costs;
    costs.mappedBytesPerSecond = coldRate(file, false);
    costs.populatedBytesPerSecond = coldRate(file, true);
    file.warmCache();
    costs.populateNs = cachedNs(file, true);
    costs.minorNs = cachedNs(file, false);
    return costs;
}

} // namespace shardscope::probes
