// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/units.h"

namespace shardscope::probes {

/// How the board is while a run goes on. The files of the kernel stay open, so a sample allocates
/// nothing. Values that this board does not tell are none. Thread-safe.
class BoardState {
public:
    static BoardState open(const std::string& proc = "/proc", const std::string& sys = "/sys");

    /// The hottest thermal zone. Source: Documentation/driver-api/thermal/sysfs-api.rst of Linux.
    std::optional<std::int64_t> heatMilliCelsius() const;
    /// The clock of the core that may be the fastest, now.
    std::optional<std::int64_t> clockKhz() const;
    std::optional<base::Bytes> swapUsed() const;
    /// "schedutil"; empty where the system does not tell.
    const std::string& governor() const { return m_governor; }

private:
    std::vector<ProcFile> m_zones;
    ProcFile m_clock, m_meminfo;
    std::string m_governor; ///< of the core that may be the fastest
    bool m_hasSwap = false;
};

} // namespace shardscope::probes
