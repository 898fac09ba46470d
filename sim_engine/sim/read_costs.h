// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/lanes.h"

namespace shardscope::sim {

/// What the page cache holds of the model file while a run reads through it: as the agent's loaders
/// leave it there, which fill at most half of what the arena leaves free.
enum class CacheUse : std::uint8_t { Keep, Streamed, Nothing };
CacheUse cacheUseOf(const plan::Plan& plan, const plan::BoardProfile& board);

/// The loader that does the reads: `auto` is what the agent would take.
plan::Loader loaderOf(const plan::Plan& plan, bool isWarm);

/// What the reads of one plan cost on one board. `isWarm`: the file was read before, so that what
/// has room is in the page cache when the run begins.
class ReadCosts {
public:
    ReadCosts(const plan::Plan& plan, const plan::BoardProfile& board, bool isWarm);

    plan::Loader loader() const { return m_loader; }
    /// The first read of a shard in a run, or a later one.
    const ReadWork& work(base::ShardId shard, bool isFirst) const {
        return (isFirst ? m_first : m_later)[shard.index()];
    }
    /// What it takes more into memory that nothing has touched before, ns a byte.
    double freshNsPerByte() const { return m_freshNsPerByte; }
    /// What it takes more into a place that the caches have lost, ns a byte.
    double lostNsPerByte() const { return m_measured ? m_measured->lostNsPerByte : 0; }
    /// From the end of a read to the op that waited for it.
    double wakeNs() const {
        return m_measured && m_measured->wakeNs > 0 ? m_measured->wakeNs : m_board.measured.wakeNs;
    }
    /// Where its weights come from when the op after this read uses them.
    plan::WeightSource source() const { return plan::freshSource(m_loader); }
    /// Touching pages of a lazy map for the first time after the first or a later load, ns a byte;
    /// 0 for other loaders.
    double touchNsPerByte(bool isFirst) const;
    /// Unmapping a byte that a loader has mapped; 0 for loaders that map nothing. A profile that no
    /// runs were fitted to has it in what touching costs.
    double releaseNsPerByte() const { return m_measured ? m_measured->releaseNsPerByte : 0; }
    /// Nobody unmaps while a read moves pages: both change the same list of maps.
    bool maps() const {
        return m_loader == plan::Loader::Mmap || m_loader == plan::Loader::Populate;
    }
    double rowNs(base::Bytes row) const;
    /// Shares of their speed that ops and reads keep beside each other.
    double opShare() const { return m_opShare; }
    double readShare() const { return m_readShare; }

private:
    bool isCached(const plan::Shard& shard, bool isFirst) const;
    double activeNs(const plan::Shard& shard, bool isFirst) const;
    void chooseShares();

    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    bool m_isWarm;
    CacheUse m_cache;
    plan::Loader m_loader;
    const plan::MeasuredReads* m_measured;
    std::vector<ReadWork> m_first, m_later; ///< by ShardId
    double m_limit = 0;                     ///< bytes a second of the throttle; 0: none
    double m_freshNsPerByte = 0;
    double m_opShare = 1, m_readShare = 1;
};

} // namespace shardscope::sim
