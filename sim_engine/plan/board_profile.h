// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"

namespace shardscope::plan {

/// What a board can do, as the simulator needs it: a preset, measured by `shardscope-agent probe`,
/// or fitted from runs. Rates are those of one thread unless they say otherwise.
struct BoardProfile {
    std::string name;    ///< "local", "v851s-512m-nand"
    std::string source;  ///< where the values come from: "probe", a data sheet
    std::string cpu;     ///< for people
    std::string storage; ///< for people
    base::Bytes ramTotal;
    base::Bytes ramReserved; ///< what the system and others hold
    std::int32_t cores = 1;
    std::int32_t fastCores = 1;

    double readLatencyNs = 0;        ///< fixed cost of a read
    double readBytesPerSecond = 0;   ///< of large reads
    double memoryBytesPerSecond = 0; ///< read bandwidth of one thread
    double memoryScale = 1;          ///< of all fast cores together, against one thread
    /// Operations per second by model::OpKind and whether the matrix is f32 (0) or narrower (1).
    std::array<std::array<double, 2>, model::kOpKindCount> opsPerSecond{};
    double opFixedNs = 0;        ///< cost of an op beside its work: hand-off to the threads
    double threadEfficiency = 1; ///< share of each further core that a compute-bound op gains
    double pageFaultNs = 0;      ///< a page that mmap or populate brings in
    /// Share of overlapped I/O time that compute loses: T = max + overlap * min.
    double overlap = 0;

    /// Seconds that a read of `bytes` takes, throttled to `limit` bytes per second if it is not 0.
    base::Nanos readTime(base::Bytes bytes, double limit) const;
};

nlohmann::ordered_json toJson(const BoardProfile& profile);

/// BadInput naming the key where a value is missing, negative, not finite or absurd.
base::Result<BoardProfile> profileFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::plan
