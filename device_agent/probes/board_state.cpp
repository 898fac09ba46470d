// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/board_state.h"

#include <array>

#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

/// A kernel numbers its cores and zones without gaps that matter; no board has more.
constexpr int kMostCores = 256, kMostZones = 64;
/// A sensor that is not there reads as such a value.
constexpr std::int64_t kAbsurdMilliCelsius = 200'000;

std::optional<std::int64_t> sizeOf(const ProcFile& meminfo, std::string_view key) {
    std::array<char, 4096> buffer;
    return numberAfter(meminfo.read(buffer), key);
}

} // namespace

BoardState BoardState::open(const std::string& proc, const std::string& sys) {
    BoardState state;
    for (int i = 0; i < kMostZones; ++i) {
        ProcFile zone(base::formatted("%s/class/thermal/thermal_zone%d/temp", sys.c_str(), i));
        if (zone.isOpen())
            state.m_zones.push_back(std::move(zone));
    }
    std::int64_t fastest = -1;
    for (int i = 0; i < kMostCores; ++i) {
        const std::string folder =
            base::formatted("%s/devices/system/cpu/cpu%d/cpufreq/", sys.c_str(), i);
        const auto most = leadingNumber(readKernelText(folder + "cpuinfo_max_freq"));
        if (!most || *most <= fastest)
            continue;
        fastest = *most;
        state.m_clock = ProcFile(folder + "scaling_cur_freq");
        state.m_governor = readKernelText(folder + "scaling_governor");
    }
    state.m_meminfo = ProcFile(proc + "/meminfo");
    state.m_hasSwap = sizeOf(state.m_meminfo, "SwapTotal:").value_or(0) > 0;
    return state;
}

std::optional<std::int64_t> BoardState::heatMilliCelsius() const {
    std::optional<std::int64_t> hottest;
    for (const ProcFile& zone : m_zones) {
        const auto value = zone.readNumber();
        if (value && *value > -kAbsurdMilliCelsius && *value < kAbsurdMilliCelsius &&
            (!hottest || *value > *hottest))
            hottest = *value;
    }
    return hottest;
}

std::optional<std::int64_t> BoardState::clockKhz() const {
    return m_clock.isOpen() ? m_clock.readNumber() : std::nullopt;
}

std::optional<base::Bytes> BoardState::swapUsed() const {
    if (!m_hasSwap)
        return std::nullopt;
    const auto total = sizeOf(m_meminfo, "SwapTotal:"), free = sizeOf(m_meminfo, "SwapFree:");
    if (!total || !free)
        return std::nullopt;
    return base::Bytes((*total - *free) * 1024);
}

} // namespace shardscope::probes
