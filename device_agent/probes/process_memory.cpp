// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/process_memory.h"

#include <cstdio>

#include <algorithm>
#include <array>
#include <unistd.h>

namespace shardscope::probes {
namespace {

using base::Bytes;

/// A line "key   123 kB" of a file.
std::optional<Bytes> kibibytesAfter(const ProcFile& file, std::string_view key) {
    std::array<char, 8192> buffer;
    const auto n = numberAfter(file.read(buffer), key);
    return n ? std::optional(base::kibibytes(*n)) : std::nullopt;
}

} // namespace

ProcessMemory ProcessMemory::open(const KernelRoots& roots) {
    ProcessMemory memory;
    memory.m_statm = ProcFile(roots.self + "/statm");
    memory.m_status = ProcFile(roots.self + "/status");
    memory.m_rollup = ProcFile(roots.self + "/smaps_rollup");
    memory.m_io = ProcFile(roots.self + "/io");
    memory.m_meminfo = ProcFile(roots.meminfo);
    memory.m_cgroup = CgroupMemory::open(roots);
    memory.m_pageSize = Bytes(::sysconf(_SC_PAGESIZE));
    memory.m_ramTotal = kibibytesAfter(memory.m_meminfo, "MemTotal:").value_or(Bytes(0));
    if (const auto limit = memory.m_cgroup.limit())
        memory.m_ramTotal =
            memory.m_ramTotal.value > 0 ? std::min(memory.m_ramTotal, *limit) : *limit;
    return memory;
}

std::optional<Bytes> ProcessMemory::rss() const {
    // Two numbers of pages: the address space, then what of it is resident.
    std::array<char, 128> buffer;
    const std::string_view text = m_statm.read(buffer);
    const std::size_t second = text.find(' ');
    if (second == std::string_view::npos)
        return std::nullopt;
    const auto pages = leadingNumber(text.substr(second));
    return pages ? std::optional(m_pageSize * *pages) : std::nullopt;
}

std::optional<Bytes> ProcessMemory::pss() const {
    return kibibytesAfter(m_rollup, "Pss:");
}

std::optional<Bytes> ProcessMemory::peakRss() const {
    return kibibytesAfter(m_status, "VmHWM:");
}

std::optional<Bytes> ProcessMemory::ioBytes() const {
    std::array<char, 512> buffer;
    const auto n = numberAfter(m_io.read(buffer), "read_bytes:");
    return n ? std::optional(Bytes(*n)) : std::nullopt;
}

std::optional<Bytes> ProcessMemory::pageCache() const {
    const auto ofGroup = m_cgroup.pageCache();
    return ofGroup ? ofGroup : kibibytesAfter(m_meminfo, "Cached:");
}

std::optional<Bytes> ProcessMemory::freeRam() const {
    const auto ofSystem = kibibytesAfter(m_meminfo, "MemAvailable:");
    const auto ofGroup = m_cgroup.available();
    if (ofSystem && ofGroup)
        return std::min(*ofSystem, *ofGroup);
    return ofGroup ? ofGroup : ofSystem;
}

void resetPeakRss() {
    // "5" resets VmHWM (proc(5)); a kernel that refuses keeps the mark of the whole process.
    if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
        std::fputs("5", file);
        std::fclose(file);
    }
}

} // namespace shardscope::probes
