// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/slot_cache.h"

#include <algorithm>

namespace shardscope::plan {

using base::ShardId;

SlotCache::SlotCache(std::vector<base::BlockId> slots, std::vector<ShardId> cycle, Policy policy)
    : m_cycle(std::move(cycle)), m_policy(policy) {
    for (const base::BlockId block : slots)
        m_slots.push_back({block, {}, -1});
    for (std::size_t i = 0; i < m_cycle.size(); ++i) {
        const std::size_t shard = m_cycle[i].index();
        if (m_position.size() <= shard)
            m_position.resize(shard + 1, -1);
        m_position[shard] = static_cast<std::int64_t>(i);
    }
    m_wasLoaded.resize(m_position.size());
}

bool SlotCache::fetch(std::int64_t next, std::int64_t current, std::vector<Step>& out) {
    const ShardId shard = shardAt(next);
    for (Slot& slot : m_slots)
        if (slot.shard == shard) {
            slot.lastUse = next;
            return true;
        }
    const std::size_t chosen = victim(next, current);
    if (chosen == m_slots.size())
        return false;
    Slot& slot = m_slots[chosen];
    if (slot.shard.valid())
        out.push_back({StepKind::Evict, false, false, evictReason(), slot.shard.value, slot.block});
    const bool missed = m_policy != Policy::Pin && m_wasLoaded[shard.index()];
    m_wasLoaded[shard.index()] = true;
    slot.shard = shard;
    slot.lastUse = next;
    out.push_back(
        {StepKind::Load, false, false, missed ? Reason::Missed : Reason::Streamed, shard.value,
         slot.block});
    return true;
}

std::size_t SlotCache::victim(std::int64_t next, std::int64_t current) {
    std::size_t best = m_slots.size();
    std::int64_t bestScore = 0;
    std::int64_t candidates = 0;
    for (std::size_t i = 0; i < m_slots.size(); ++i) {
        const Slot& slot = m_slots[i];
        if (!slot.shard.valid())
            return i;
        if (isNeeded(slot.shard, current, next))
            continue;
        std::int64_t score = -slot.lastUse; // the least recent wins
        if (m_policy == Policy::Mru)
            score = slot.lastUse;
        if (m_policy == Policy::Belady)
            score = nextUse(slot.shard, next);
        ++candidates;
        if (m_policy == Policy::Random) {
            // Each candidate replaces the choice with probability 1/candidates (xorshift64).
            m_random ^= m_random << 13;
            m_random ^= m_random >> 7;
            m_random ^= m_random << 17;
            if (m_random % static_cast<std::uint64_t>(candidates) == 0)
                best = i;
        } else if (best == m_slots.size() || score > bestScore) {
            best = i;
            bestScore = score;
        }
    }
    return best;
}

bool SlotCache::isNeeded(ShardId shard, std::int64_t from, std::int64_t to) const {
    const std::int64_t use =
        from + (m_position[shard.index()] - from % cycleLength() + cycleLength()) % cycleLength();
    return use < to;
}

std::int64_t SlotCache::nextUse(ShardId shard, std::int64_t after) const {
    const std::int64_t n = cycleLength();
    const std::int64_t distance = (m_position[shard.index()] - after % n + n) % n;
    return distance == 0 ? n : distance;
}

Reason SlotCache::evictReason() const {
    switch (m_policy) {
    case Policy::Pin:
        return Reason::SlotNeeded;
    case Policy::Lru:
        return Reason::LeastRecent;
    case Policy::Mru:
        return Reason::MostRecent;
    case Policy::Random:
        return Reason::Drawn;
    case Policy::Belady:
        return Reason::FarthestUse;
    }
    return Reason::SlotNeeded;
}

void SlotCache::release(Reason reason, std::vector<Step>& out) {
    for (Slot& slot : m_slots)
        if (slot.shard.valid()) {
            out.push_back({StepKind::Evict, false, false, reason, slot.shard.value, slot.block});
            slot.shard = {};
            slot.lastUse = -1;
        }
}

std::vector<std::int64_t> SlotCache::signature(std::int64_t access) const {
    std::vector<std::int64_t> state;
    for (const Slot& slot : m_slots) {
        state.push_back(slot.shard.valid() ? slot.shard.value : -1);
        state.push_back(slot.shard.valid() ? slot.lastUse - access : 0);
    }
    if (m_policy == Policy::Random)
        state.push_back(static_cast<std::int64_t>(m_random));
    // Reasons tell first loads from misses, so those are part of what comes next.
    for (std::size_t i = 0; m_policy != Policy::Pin && i < m_wasLoaded.size(); ++i)
        state.push_back(m_wasLoaded[i]);
    return state;
}

} // namespace shardscope::plan
