// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "device_agent/probes/cgroup_memory.h"
#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/units.h"

namespace shardscope::probes {

/// What this process and its system hold in memory, and what it had read from storage. The files of
/// the kernel stay open, so a sample allocates nothing; all but pss() take some microseconds.
/// Values that this kernel does not tell are none. Thread-safe.
class ProcessMemory {
public:
    static ProcessMemory open(const KernelRoots& roots = {});

    /// Resident set, with the file pages that are mapped.
    std::optional<base::Bytes> rss() const;
    /// Proportional set: pages shared with other processes count in part. The kernel walks the page
    /// tables for it, some 10 us for each 10 MiB: ask less often than for the others.
    std::optional<base::Bytes> pss() const;
    /// Largest resident set since the process began.
    std::optional<base::Bytes> peakRss() const;
    /// Bytes that the process made the storage read: not what the page cache served.
    std::optional<base::Bytes> ioBytes() const;

    /// Page cache of the cgroup that limits the process, or else of the system.
    std::optional<base::Bytes> pageCache() const;
    /// Memory that can still be had without swapping: of the limiting cgroup and of the system the
    /// lesser one.
    std::optional<base::Bytes> freeRam() const;
    /// Memory of the system, or the limit of the cgroup where that is less; 0 where neither is
    /// told.
    base::Bytes ramTotal() const { return m_ramTotal; }
    /// The lowest limit of the cgroups around the process; none where there is none.
    std::optional<base::Bytes> cgroupLimit() const { return m_cgroup.limit(); }

private:
    ProcFile m_statm, m_status, m_rollup, m_io, m_meminfo;
    CgroupMemory m_cgroup;
    base::Bytes m_pageSize, m_ramTotal;
};

/// Starts the high-water mark of peakRss() anew, where the kernel permits it: a process may run
/// more than one model.
void resetPeakRss();

} // namespace shardscope::probes
