// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

/// Which shards stand in which streaming slots while passes go over a cyclic list of shards, and
/// what is let go when one more is wanted: the one place where a policy decides.
class SlotCache {
public:
    /// `cycle` lists the streamed shards in the order of their use, each once.
    SlotCache(std::vector<base::BlockId> slots, std::vector<base::ShardId> cycle, Policy policy);

    /// Makes the shard of access `next` resident, while access `current` is the one in use;
    /// accesses count on over the cycles. Appends the steps. False when every slot holds a shard
    /// that is needed before: the read must wait.
    bool fetch(std::int64_t next, std::int64_t current, std::vector<Step>& out);

    /// Lets go of all that is held.
    void release(Reason reason, std::vector<Step>& out);

    base::ShardId shardAt(std::int64_t access) const {
        return m_cycle[static_cast<std::size_t>(access % cycleLength())];
    }
    std::int64_t cycleLength() const { return static_cast<std::int64_t>(m_cycle.size()); }
    bool empty() const { return m_cycle.empty(); }

    /// Equal for two moments, given by the access that comes next, from which all further decisions
    /// are the same; never equal under the random policy.
    std::vector<std::int64_t> signature(std::int64_t access) const;

private:
    struct Slot {
        base::BlockId block;
        base::ShardId shard;
        std::int64_t lastUse = -1;
    };
    std::size_t victim(std::int64_t next, std::int64_t current);
    bool isNeeded(base::ShardId shard, std::int64_t from, std::int64_t to) const;
    std::int64_t nextUse(base::ShardId shard, std::int64_t after) const;
    Reason evictReason() const;

    std::vector<Slot> m_slots;
    std::vector<base::ShardId> m_cycle;
    std::vector<std::int64_t> m_position; ///< by ShardId: its place in the cycle
    Policy m_policy;
    std::vector<bool> m_wasLoaded; ///< by ShardId
    std::uint64_t m_random = 0x9E3779B97F4A7C15u;
};

} // namespace shardscope::plan
