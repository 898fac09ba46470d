// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/pressure.h"

#include <cstdlib>

#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {

std::optional<double> pressurePercent(std::string_view text) {
    constexpr std::string_view kKey = "avg10=";
    const std::size_t at = text.find(kKey);
    if (at == text.npos)
        return std::nullopt;
    const std::string number(text.substr(at + kKey.size(), 12));
    char* end = nullptr;
    const double percent = std::strtod(number.c_str(), &end);
    if (end == number.c_str() || !(percent >= 0 && percent <= 100))
        return std::nullopt;
    return percent;
}

Finding judgePressure(const std::string& proc, const std::string& resource) {
    constexpr double kBusyPercent = 5;
    const std::string check = resource + "_pressure";
    const auto percent = pressurePercent(readKernelText(proc + "/pressure/" + resource));
    if (!percent)
        return {check, Severity::Note, "this kernel does not tell the pressure on " + resource, ""};
    const std::string said = base::formatted(
        "tasks waited for %s in %.1f %% of the last 10 s", resource.c_str(), *percent);
    if (*percent > kBusyPercent)
        return {check, Severity::Warning, said, "find what else is running: top, iotop"};
    return {check, Severity::Good, said, ""};
}

} // namespace shardscope::probes
