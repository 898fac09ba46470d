// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/machine_facts.h"

#include <algorithm>
#include <array>
#include <sys/utsname.h>

#include "device_agent/engine/kernels/vector_targets.h"
#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

/// A kernel lists its cores without gaps that matter; nothing has more.
constexpr int kMostCores = 1024;

/// The value of "key   : value" in the paragraph of one processor.
std::string valueOf(const std::string& cpuinfo, int core, const std::string& key) {
    const std::string head = base::formatted("processor\t: %d\n", core);
    std::size_t at = cpuinfo.find(head);
    if (at == std::string::npos)
        return {};
    const std::size_t end = std::min(cpuinfo.find("\n\n", at), cpuinfo.size());
    at = cpuinfo.find("\n" + key, at);
    const std::size_t colon = cpuinfo.find(':', at);
    if (at == std::string::npos || at > end || colon == std::string::npos || colon > end)
        return {};
    const std::size_t line = std::min(cpuinfo.find('\n', colon), end);
    return colon + 2 < line ? cpuinfo.substr(colon + 2, line - colon - 2) : std::string();
}

std::string coreName(const std::string& cpuinfo, int core) {
    const std::string model = valueOf(cpuinfo, core, "model name");
    if (model.empty() || model.starts_with("ARMv"))
        if (const std::string arm = armCoreName(valueOf(cpuinfo, core, "CPU part")); !arm.empty())
            return arm;
    return model;
}

std::int32_t megahertz(const std::string& folder, const std::string& cpuinfo, int core) {
    if (const auto khz = leadingNumber(readKernelText(folder + "cpufreq/cpuinfo_max_freq")))
        return static_cast<std::int32_t>(*khz / 1000);
    const auto now = leadingNumber(valueOf(cpuinfo, core, "cpu MHz"));
    return static_cast<std::int32_t>(now.value_or(0));
}

std::vector<plan::CpuCluster> clusters(const std::string& sys, const std::string& cpuinfo) {
    std::vector<plan::CpuCluster> all;
    for (int core = 0; core < kMostCores; ++core) {
        const std::string folder =
            base::formatted("%s/devices/system/cpu/cpu%d/", sys.c_str(), core);
        const std::string name = coreName(cpuinfo, core);
        const std::int32_t mhz = megahertz(folder, cpuinfo, core);
        if (name.empty() && mhz == 0 && valueOf(cpuinfo, core, "processor").empty() &&
            readKernelText(folder + "topology/core_id").empty())
            break;
        // Turbo bins of equal cores differ by a few per cent; clusters differ by more.
        const auto same = std::find_if(all.begin(), all.end(), [&](const plan::CpuCluster& c) {
            return c.name == name && mhz * 10 >= c.mhz * 9 && c.mhz * 10 >= mhz * 9;
        });
        if (same == all.end())
            all.push_back({1, mhz, name});
        else
            ++same->cores;
    }
    return all;
}

/// "32768K" in the file of each level.
base::Bytes largestCache(const std::string& sys) {
    base::Bytes most;
    for (int index = 0; index < 8; ++index) {
        const std::string size = readKernelText(
            base::formatted("%s/devices/system/cpu/cpu0/cache/index%d/size", sys.c_str(), index));
        if (const auto bytes = base::parseBytes(size.empty() ? "0" : size + "iB"))
            most = std::max(most, *bytes);
    }
    return most;
}

} // namespace

std::string armCoreName(const std::string& part) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kParts{{
        {"0xb76", "ARM1176"},
        {"0xc07", "Cortex-A7"},
        {"0xc08", "Cortex-A8"},
        {"0xc09", "Cortex-A9"},
        {"0xc0f", "Cortex-A15"},
        {"0xd03", "Cortex-A53"},
        {"0xd04", "Cortex-A35"},
        {"0xd05", "Cortex-A55"},
        {"0xd07", "Cortex-A57"},
        {"0xd08", "Cortex-A72"},
        {"0xd09", "Cortex-A73"},
        {"0xd0a", "Cortex-A75"},
        {"0xd0b", "Cortex-A76"},
        {"0xd41", "Cortex-A78"},
    }};
    for (const auto& [number, name] : kParts)
        if (number == part)
            return std::string(name);
    return {};
}

plan::MachineFacts machineFacts(const std::string& sys, const std::string& cpuinfo) {
    plan::MachineFacts facts;
    utsname system{};
    if (::uname(&system) == 0) {
        facts.architecture = system.machine;
        facts.kernel = std::string(system.sysname) + " " + system.release;
    }
    facts.vectorTarget = engine::kernels::vectorTargetName();
    facts.clusters = clusters(sys, readKernelText(cpuinfo));
    facts.cacheBytes = largestCache(sys);
    return facts;
}

} // namespace shardscope::probes
