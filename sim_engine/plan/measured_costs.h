// SPDX-License-Identifier: GPL-3.0-or-later
// What runs on a board have shown: times of ops of exact shapes, reads by loader, fixed costs. They
// go before the rates of the profile; shapes that were not seen are scaled by those that were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/plan/cached_file.h"
#include "sim_engine/plan/kernel_class.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::plan {

/// Where the weights of an op come from, which decides how fast they are read: from memory where
/// they stay; just copied there by this program (the caches still hold some); just read past the
/// caches; from a mapping whose pages are touched for the first time; or from memory where they
/// stay while others stream by, through the same caches and beside the thread that reads.
enum class WeightSource : std::uint8_t { Resident, Copied, Device, Mapped, Pinned };
inline constexpr std::size_t kWeightSourceCount = 5;

/// "resident", "copied", "device", "mapped", "pinned".
std::string_view weightSourceName(WeightSource source);

struct Plan;
/// Where weights come from that were not just loaded; ops without weights count as such. Lazy maps
/// move nothing beside them.
WeightSource heldSource(const Plan& plan);

/// Where weights come from when they were just loaded.
WeightSource freshSource(Loader loader);

/// All that the time of an op depends on beside the board and the text position. Work is that of
/// one row, as model::OpCost tells it.
struct OpShape {
    KernelKey kernel;
    WeightSource source = WeightSource::Resident;
    std::int32_t threads = 1;
    std::int32_t rows = 1; ///< tokens of all sequences; 1 in encode and cross
    double flops = 0;
    double flopsPerPosition = 0;
    double weightBytes = 0;

    bool operator==(const OpShape&) const = default;
};

struct MeasuredOp {
    OpShape shape;
    double ns = 0;            ///< without reads under way
    double nsPerPosition = 0; ///< for each position that its rows look back on
    double residual = 0;      ///< median of |time / fit - 1|
    std::int64_t samples = 0;
};

/// Reads of shards by one loader, beside so many threads that compute.
struct MeasuredReads {
    Loader loader = Loader::Pread;
    std::int32_t threads = 1;
    double requestNs = 0;           ///< fixed cost of an extent
    double bytesPerSecond = 0;      ///< while nothing computes
    double freshBytesPerSecond = 0; ///< into memory that nothing has touched before; 0: the same
    double computeLoss = 0;         ///< share of its speed that compute loses while it is read
    double readLoss = 0;            ///< share of their speed that reads lose while ops compute
    double lostNsPerByte = 0;    ///< more into places that the caches have lost; see CachedPlaces
    double touchNsPerByte = 0;   ///< of a lazy map of cached pages, by one thread; 0: not known
    double wakeNs = 0;           ///< from the end of a read to the op that waited for it
    double releaseNsPerByte = 0; ///< unmapping what a loader has mapped, for its pages
    double residual = 0;
    std::int64_t samples = 0;
};

struct MeasuredCosts {
    std::vector<MeasuredOp> ops;
    std::vector<MeasuredReads> reads;
    std::vector<CachedFile> files;
    double startNs = 0; ///< from the start of the clock to the first step of a run
    double opGapNs = 0; ///< between two ops: the walk, its events
    double wakeNs = 0;  ///< after reads, where their loader was not seen
    double rowNs = 0;   ///< a row of a table that is read by itself

    bool empty() const { return ops.empty() && reads.empty(); }
    /// Null where this shape was not seen.
    const MeasuredOp* find(const OpShape& shape) const;
    /// Of this loader with as many threads or, where they were not seen, the nearest number.
    const MeasuredReads* find(Loader loader, std::int32_t threads) const;
};

nlohmann::ordered_json toJson(const MeasuredCosts& costs);

/// BadInput naming the key where a value is missing, negative, not finite or absurd. Kernels, types
/// and loaders that this version does not know are left out.
base::Result<MeasuredCosts> measuredFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::plan
