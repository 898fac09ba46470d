// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim_engine/analyze/calibrate.h"
#include "sim_engine/analyze/median.h"

namespace shardscope::analyze {

using LoaderKey = std::pair<plan::Loader, std::int32_t>; ///< and threads

inline LoaderKey keyOf(const RunObservation& run) {
    return {run.loader, run.threads};
}

/// No more of its speed than this is lost.
inline constexpr double kMostLost = 0.9;

/// The share of its speed that something loses of which, in one run, `alone` were less beside
/// something else than `beside` were: time * (1 - lost * share) is the same of both.
Weighted
lostBetween(double aloneNs, double aloneShare, double besideNs, double besideShare, double weight);

struct ReadFit {
    plan::MeasuredReads costs; ///< all but what ops show: computeLoss, touchNsPerByte
    double offNs = 0;          ///< sum of |time - fit| of the reads, and of their times
    double allNs = 0;
};

/// The most that an extent may cost beside its bytes. Shards of a run are of few sizes, so that
/// anything else that tells them apart looks like a cost of requests: it is held to what the probe
/// has seen of small ones.
double mostRequestNs(const plan::BoardProfile& prior, plan::Loader loader);

/// What is taken as known when reads are fitted.
struct ReadsKnown {
    std::vector<plan::CachedFile> files; ///< where copies find them in the page cache
    double copyRequestNs = 0;            ///< what an extent costs a copy, beside its bytes
};

/// What reads of one loader cost beside so many threads. Runs that were throttled say nothing of
/// it. None where no other is there.
std::optional<ReadFit> fitReads(
    const std::vector<const RunObservation*>& runs, const ReadsKnown& known,
    const plan::BoardProfile& prior, LoaderKey key);

} // namespace shardscope::analyze
