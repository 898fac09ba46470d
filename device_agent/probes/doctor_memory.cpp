// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "device_agent/probes/doctor.h"
#include "device_agent/probes/pressure.h"
#include "device_agent/probes/process_memory.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

using base::Bytes;
using base::bytesText;

std::int64_t setting(const SystemRoots& roots, const char* name) {
    return leadingNumber(readKernelText(roots.proc + "/sys/vm/" + name)).value_or(-1);
}

void judgeRam(const Demand& demand, const SystemRoots& roots, std::vector<Finding>& out) {
    const ProcessMemory memory =
        ProcessMemory::open({roots.proc + "/self", roots.proc + "/meminfo", roots.cgroups});
    const Bytes free = memory.freeRam().value_or(Bytes(0));
    const std::string said = bytesText(free) + " of " + bytesText(memory.ramTotal()) +
                             " can be had" +
                             (memory.cgroupLimit() ? " (a cgroup limits this process)" : "");
    if (!demand.arena)
        return out.push_back({"memory", Severity::Good, said, ""});
    const Bytes needed = *demand.arena + demand.overhead;
    if (needed > free) {
        const Bytes budget = std::max(Bytes(0), free - demand.overhead);
        const auto mebibytes = static_cast<long long>(budget.value >> 20);
        return out.push_back(
            {"memory", Severity::Problem, said + ", the run needs " + bytesText(needed),
             base::formatted(
                 "run with --budget %lldMiB, or free memory", std::max(mebibytes, 1LL))});
    }
    out.push_back({"memory", Severity::Good, said + ", the run needs " + bytesText(needed), ""});
}

void judgeSwap(const SystemRoots& roots, std::vector<Finding>& out) {
    const auto meminfo = readKernelText(roots.proc + "/meminfo");
    const auto total = numberAfter(meminfo, "SwapTotal:").value_or(0);
    if (total == 0)
        return out.push_back({"swap", Severity::Good, "no swap", ""});
    const auto free = numberAfter(meminfo, "SwapFree:").value_or(0);
    const std::string said = base::formatted(
        "%s of swap, %s in use, swappiness %lld", bytesText(Bytes(total * 1024)).c_str(),
        bytesText(Bytes((total - free) * 1024)).c_str(),
        static_cast<long long>(setting(roots, "swappiness")));
    out.push_back(
        {"swap", Severity::Warning, said + ": pages of the arena may be moved out in a run",
         "swapoff -a for the run, or sysctl vm.swappiness=1"});
}

void judgeOvercommit(const SystemRoots& roots, std::vector<Finding>& out) {
    const std::int64_t mode = setting(roots, "overcommit_memory");
    if (mode == 2)
        return out.push_back(
            {"overcommit", Severity::Warning,
             "the kernel never overcommits (vm.overcommit_memory = 2): a large arena may be "
             "refused "
             "while memory is free",
             "sysctl vm.overcommit_memory=0"});
    if (mode >= 0)
        out.push_back(
            {"overcommit", Severity::Good,
             base::formatted("vm.overcommit_memory = %d", static_cast<int>(mode)), ""});
}

void judgeHugePages(const SystemRoots& roots, std::vector<Finding>& out) {
    const std::string modes = readKernelText(roots.sys + "/kernel/mm/transparent_hugepage/enabled");
    if (modes.empty())
        return;
    const std::size_t begin = modes.find('['), end = modes.find(']');
    const std::string mode =
        begin < end && end != std::string::npos ? modes.substr(begin + 1, end - begin - 1) : modes;
    if (mode == "always")
        return out.push_back(
            {"huge_pages", Severity::Note,
             "transparent huge pages are always on: memory comes in steps of 2 MiB, so RSS may "
             "stand above the plan",
             "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"});
    out.push_back({"huge_pages", Severity::Good, "transparent huge pages: " + mode, ""});
}

} // namespace

void examineMemory(const Demand& demand, const SystemRoots& roots, std::vector<Finding>& out) {
    judgeRam(demand, roots, out);
    judgeSwap(roots, out);
    judgeOvercommit(roots, out);
    judgeHugePages(roots, out);
    out.push_back(judgePressure(roots.proc, "memory"));
}

} // namespace shardscope::probes
