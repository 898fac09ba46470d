// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/units.h"

namespace shardscope::probes {

/// Where the kernel shows itself; tests put files of their own there.
struct KernelRoots {
    std::string self = "/proc/self";
    std::string meminfo = "/proc/meminfo";
    std::string cgroups = "/sys/fs/cgroup";
};

/// The memory cgroup that limits this process, version 1 or 2: of all groups above it the one with
/// the lowest limit. Source: Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst of
/// Linux. The limit is that at the time of opening. Thread-safe; reading allocates nothing.
class CgroupMemory {
public:
    static CgroupMemory open(const KernelRoots& roots = {});

    /// None where nothing limits the process.
    std::optional<base::Bytes> limit() const { return m_limit; }
    /// File pages charged to the group; none where nothing limits the process.
    std::optional<base::Bytes> pageCache() const;
    /// What the group may still take: the limit less its use, plus its idle file pages, which the
    /// kernel drops first.
    std::optional<base::Bytes> available() const;

private:
    std::optional<base::Bytes> m_limit;
    bool m_isV2 = false;
    ProcFile m_stat;
    ProcFile m_usage;
};

} // namespace shardscope::probes
