// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/units.h"

namespace shardscope::probes {

enum class Severity {
    Good,    ///< as a run wants it
    Note,    ///< worth knowing
    Warning, ///< makes a run slower, or its figures less true
    Problem, ///< a run fails or is killed
};

/// "good", "note", "warning", "problem".
std::string_view severityName(Severity severity);

/// One thing that the doctor looked at.
struct Finding {
    std::string check; ///< "swap", "o_direct"
    Severity severity = Severity::Good;
    std::string what; ///< a sentence without its full stop, with the value
    std::string mend; ///< what to do; empty where nothing is needed
};

/// Where the kernel shows itself; tests put a tree of their own there.
struct SystemRoots {
    std::string proc = "/proc";
    std::string sys = "/sys";
    std::string cgroups = "/sys/fs/cgroup";
};

/// What is to be run, as far as it is known.
struct Demand {
    std::string folder;               ///< where models and recordings lie
    std::optional<base::Bytes> arena; ///< planned peak of the run
    base::Bytes overhead;             ///< of the process beside it
};

/// Everything below, in this order.
std::vector<Finding> examine(const Demand& demand, const SystemRoots& roots = {});

/// RAM and limits against the demand, swap, overcommit, huge pages, memory pressure.
void examineMemory(const Demand& demand, const SystemRoots& roots, std::vector<Finding>& out);
/// Clusters, governor, temperature, load, clock.
void examineProcessor(const SystemRoots& roots, std::vector<Finding>& out);
/// O_DIRECT by a real read, io_uring by a real ring, file system and mount, space, writeback,
/// I/O pressure.
void examineStorage(const Demand& demand, const SystemRoots& roots, std::vector<Finding>& out);

/// What the wall clock says, in seconds since 1970, against a time that is surely past.
Finding judgeClock(std::int64_t now);
/// Mount options of the file system with these numbers, from a table as /proc/self/mountinfo is.
Finding judgeMount(std::string_view table, unsigned major, unsigned minor);

} // namespace shardscope::probes
