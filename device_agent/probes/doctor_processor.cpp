// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <ctime>
#include <map>

#include "device_agent/probes/board_state.h"
#include "device_agent/probes/cpu_facts.h"
#include "device_agent/probes/doctor.h"
#include "device_agent/probes/pressure.h"
#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

/// A kernel lists its cores and zones without gaps that matter; nothing has more.
constexpr int kMostCores = 1024;

std::string coreFolder(const SystemRoots& roots, int core) {
    return base::formatted("%s/devices/system/cpu/cpu%d/", roots.sys.c_str(), core);
}

void judgeGovernor(const SystemRoots& roots, std::vector<Finding>& out) {
    std::map<std::string, int> governors;
    for (int core = 0; core < kMostCores; ++core) {
        const std::string name =
            readKernelText(coreFolder(roots, core) + "cpufreq/scaling_governor");
        if (!name.empty())
            ++governors[name];
    }
    if (governors.empty())
        return out.push_back(
            {"governor", Severity::Note, "the system does not show the clock of its cores", ""});
    std::string said;
    for (const auto& [name, count] : governors)
        said += base::formatted("%s%s on %d cores", said.empty() ? "" : ", ", name.c_str(), count);
    if (governors.size() == 1 && governors.count("performance") == 1)
        return out.push_back({"governor", Severity::Good, said, ""});
    out.push_back(
        {"governor", Severity::Warning, said + ": the clock changes in the middle of a run",
         "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"});
}

void judgeClusters(const SystemRoots& roots, std::vector<Finding>& out) {
    std::map<std::int64_t, int, std::greater<>> clusters; // by capacity, the fastest first
    for (int core = 0; core < kMostCores; ++core)
        if (const auto capacity =
                leadingNumber(readKernelText(coreFolder(roots, core) + "cpu_capacity")))
            ++clusters[*capacity];
    if (clusters.size() < 2)
        return out.push_back(
            {"clusters", Severity::Good, base::formatted("%d equal cores", cores()), ""});
    std::string said;
    for (const auto& [capacity, count] : clusters)
        said += base::formatted(
            "%s%d of capacity %lld", said.empty() ? "" : ", ", count,
            static_cast<long long>(capacity));
    const int fast = clusters.begin()->second;
    out.push_back(
        {"clusters", Severity::Note, "cores: " + said,
         base::formatted(
             "keep --threads at %d, the default: slow cores hold the fast ones up", fast)});
}

void judgeHeat(const SystemRoots& roots, std::vector<Finding>& out) {
    const auto hottest = BoardState::open(roots.proc, roots.sys).heatMilliCelsius();
    if (!hottest)
        return out.push_back(
            {"temperature", Severity::Note, "the system shows no temperature", ""});
    const std::string said = base::formatted("%.1f degrees Celsius", double(*hottest) / 1000);
    constexpr std::int64_t kHot = 75'000; // most boards slow down from 80 or 85 on
    if (*hottest >= kHot)
        return out.push_back(
            {"temperature", Severity::Warning, said + ": the board is about to slow down",
             "let it cool, or give it a heat sink"});
    out.push_back({"temperature", Severity::Good, said, ""});
}

void judgeLoad(const SystemRoots& roots, std::vector<Finding>& out) {
    double load = 0;
    const std::string text = readKernelText(roots.proc + "/loadavg");
    if (std::sscanf(text.c_str(), "%lf", &load) != 1)
        return;
    const std::string said = base::formatted("load of %.2f on %d cores", load, cores());
    if (load > 0.5 * cores())
        return out.push_back(
            {"load", Severity::Warning, said + ": others compute too",
             "stop what else is running"});
    out.push_back({"load", Severity::Good, said, ""});
}

} // namespace

Finding judgeClock(std::int64_t now) {
    constexpr std::int64_t kSurelyPast = 1'735'689'600; // 2025-01-01
    std::tm date{};
    char text[32] = "";
    const std::time_t seconds = static_cast<std::time_t>(now);
    if (::gmtime_r(&seconds, &date) != nullptr)
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &date);
    if (now < kSurelyPast)
        return {
            "clock", Severity::Warning,
            std::string("the clock says ") + text + ": runs would be filed under that day",
            "set it: date -s, or start an NTP client"};
    return {"clock", Severity::Good, std::string("the clock says ") + text, ""};
}

void examineProcessor(const SystemRoots& roots, std::vector<Finding>& out) {
    judgeClusters(roots, out);
    judgeGovernor(roots, out);
    judgeHeat(roots, out);
    judgeLoad(roots, out);
    out.push_back(judgePressure(roots.proc, "cpu"));
    out.push_back(judgeClock(static_cast<std::int64_t>(std::time(nullptr))));
}

} // namespace shardscope::probes
