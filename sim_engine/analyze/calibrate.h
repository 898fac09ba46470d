// SPDX-License-Identifier: GPL-3.0-or-later
// Fits a board's profile to runs that were measured on it: times of ops by their shape, reads by
// loader, what both lose beside each other, fixed costs. Pure: it works on traces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim_engine/base/result.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::analyze {

/// What a fit takes from one run: means of like ops and reads, a few hundred numbers. Means, since
/// the figures of a run are sums: what disturbs some ops of each token is part of its time. The fit
/// takes medians over runs.
struct RunObservation {
    /// Ops of one shape, with few reads beside them or with many.
    struct Ops {
        plan::OpShape shape;
        model::PassKind pass = model::PassKind::Encode;
        double ns = 0;          ///< mean
        double besideReads = 0; ///< share of their time in which a read moved bytes
        double positions = 0;   ///< mean of what their rows look back on
        double slope = 0;       ///< ns a position, where `positions` differ; else 0
        double totalNs = 0;
        std::int64_t count = 0;
    };
    /// Reads of one shard, with little computing beside them or with much, into places that the
    /// caches still hold or have lost. In the order of the shards.
    struct Reads {
        std::vector<plan::Extent> extents;
        double bytes = 0;
        double ns = 0;          ///< mean
        double besideOps = 0;   ///< share of their time in which ops computed
        double lost = 0;        ///< share of their places that the caches have lost
        bool intoFresh = false; ///< memory that nothing has touched before
        std::int64_t count = 0;

        /// From this share on they count as reads into lost places.
        static constexpr double kMostlyLost = 0.5;
        bool isMostlyLost() const { return lost >= kMostlyLost; }
    };
    std::string model;
    plan::Loader loader = plan::Loader::Pread;
    std::int32_t threads = 1;
    bool isThrottled = false;
    std::vector<Ops> ops;
    std::vector<Reads> reads;
    double startNs = 0, opGapNs = 0, tokenNs = 0;
    double wakeNs = 0; ///< mean
    std::int64_t wakes = 0;
    double rowNs = -1;            ///< -1: did not happen
    double releaseNsPerByte = -1; ///< of shards that were mapped; -1: none was
};

/// `loader` is the one that was used; `board` what is known so far; `isCold`: the run began with
/// nothing in the page cache, so that first loads tell of the device and are left out. BadInput
/// where the trace is not one of this plan, or has lost events.
base::Result<RunObservation> observe(
    const trace::Trace& trace, const plan::Plan& plan, plan::Loader loader,
    const plan::BoardProfile& board, bool isCold = false);

struct FitQuality {
    std::int64_t runs = 0;
    /// By PassKind: sum of |time - fit| over sum of time, of the ops that were fitted.
    std::array<double, model::kPassCount> passes{};
    double reads = 0; ///< the same of reads
};

struct Fit {
    plan::BoardProfile board; ///< the prior with what was measured in it
    FitQuality quality;
};

/// What the prior knows of other ops and loaders stays. Usage where there is no run.
base::Result<Fit>
calibrate(const std::vector<const RunObservation*>& runs, const plan::BoardProfile& prior);

} // namespace shardscope::analyze
