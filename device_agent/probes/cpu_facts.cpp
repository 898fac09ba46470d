// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/cpu_facts.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <sys/utsname.h>
#include <vector>

#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

/// A number in a file of /sys; -1 where there is none.
long numberIn(const std::string& path) {
    long value = -1;
    if (std::FILE* file = std::fopen(path.c_str(), "r")) {
        if (std::fscanf(file, "%ld", &value) != 1)
            value = -1;
        std::fclose(file);
    }
    return value;
}

std::vector<int> allowedCores() {
    cpu_set_t set;
    std::vector<int> list;
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set))
                list.push_back(cpu);
    if (list.empty())
        list.push_back(0);
    return list;
}

} // namespace

std::int32_t cores() {
    return static_cast<std::int32_t>(allowedCores().size());
}

std::int32_t fastCores() {
    std::vector<long> speeds;
    for (const int cpu : allowedCores()) {
        const std::string folder = base::formatted("/sys/devices/system/cpu/cpu%d/", cpu);
        const long capacity = numberIn(folder + "cpu_capacity");
        speeds.push_back(capacity > 0 ? capacity : numberIn(folder + "cpufreq/cpuinfo_max_freq"));
    }
    const long fastest = *std::max_element(speeds.begin(), speeds.end());
    // Turbo bins of equal cores differ by a few per cent; clusters differ by more.
    return static_cast<std::int32_t>(std::count_if(
        speeds.begin(), speeds.end(), [&](long speed) { return speed * 10 >= fastest * 9; }));
}

std::string cpuName() {
    std::string name;
    if (std::FILE* file = std::fopen("/proc/cpuinfo", "r")) {
        char line[512];
        while (name.empty() && std::fgets(line, sizeof line, file)) {
            const char* colon = std::strchr(line, ':');
            const bool isName =
                std::strncmp(line, "model name", 10) == 0 || std::strncmp(line, "Hardware", 8) == 0;
            if (isName && colon && colon[1] != '\0')
                name = colon + 2;
        }
        std::fclose(file);
    }
    while (!name.empty() && (name.back() == '\n' || name.back() == ' '))
        name.pop_back();
    utsname system{};
    if (name.empty() && ::uname(&system) == 0)
        name = system.machine;
    return name;
}

} // namespace shardscope::probes
