// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/merge_reads.h"

#include <algorithm>
#include <bit>

#include "sim_engine/plan/shards.h"

namespace shardscope::plan {
namespace {

using base::BlockId;
using base::Bytes;
using base::ShardId;

constexpr double kWaste = 0.02;

/// What is useful where nobody has told: of storage of 100 us and 200 MB/s, or as much as is
/// emulated.
Bytes typicalUsefulRead(const RunConfig& config) {
    BoardProfile typical;
    typical.readLatencyNs = 100e3;
    typical.readBytesPerSecond = 210e6;
    return usefulReadOf(typical, config.emulateRead ? config.emulateRead->real() : 0);
}

/// The shard that holds what both hold.
Shard joined(const Shard& a, const Shard& b) {
    Shard shard;
    const std::size_t dash = a.name.find(" to ");
    shard.name = a.name.substr(0, dash) + " to " + b.name;
    shard.key = a.key;
    std::vector<FileRange> ranges;
    for (const Shard* part : {&a, &b})
        for (const Extent& e : part->extents)
            ranges.push_back({e.fileOffset, e.fileOffset + e.bytes});
    placeExtents(shard, std::move(ranges));
    return shard;
}

class Merger {
public:
    Merger(Plan& plan, Fitted& fitted)
        : m_plan(plan), m_fitted(fitted),
          m_isKnown(plan.config.usefulRead && plan.config.usefulRead->value > 0),
          m_useful(m_isKnown ? *plan.config.usefulRead : typicalUsefulRead(plan.config)),
          m_into(plan.shards.size()) {
        for (std::size_t i = 0; i < m_into.size(); ++i)
            m_into[i] = ShardId(i);
    }

    void run() {
        Residence& r = m_fitted.residence;
        const Layout& l = m_fitted.layout;
        merge(r.encodeStreamed, l.encodeSlots);
        merge(r.crossStreamed, l.crossSlots);
        // Pins come between the shards of the decoder, the more of them the larger the budget: what
        // is merged only where none stands between must be worth it on the board itself.
        if (m_plan.config.policy == Policy::Pin && m_isKnown)
            merge(r.decodeStreamed, l.decodeSlots);
        if (m_hasMerged)
            renumber();
    }

private:
    void merge(std::vector<ShardId>& streamed, const std::vector<BlockId>& slots) {
        if (streamed.empty())
            return;
        const Bytes room = m_fitted.layout.blocks[slots.front().index()].bytes;
        std::vector<ShardId> kept{streamed.front()};
        std::uint32_t last = streamed.front().value; // that went into kept.back()
        std::size_t left = streamed.size();
        for (auto next = streamed.begin() + 1; next != streamed.end(); ++next) {
            Shard& into = m_plan.shards[kept.back().index()];
            // Shards are numbered in the order of their use: nothing is used between the two.
            if (left > slots.size() + 1 && next->value == last + 1 &&
                take(into, m_plan.shard(*next), room)) {
                m_into[next->index()] = kept.back();
                m_hasMerged = true;
                --left;
            } else {
                kept.push_back(*next);
            }
            last = next->value;
        }
        streamed = std::move(kept);
    }

    bool take(Shard& into, const Shard& next, Bytes room) const {
        if (into.bytes >= m_useful && next.bytes >= m_useful)
            return false;
        Shard both = joined(into, next);
        const bool oneRequestLess = both.extents.size() < into.extents.size() + next.extents.size();
        if (!oneRequestLess || both.held > room)
            return false;
        into = std::move(both);
        return true;
    }

    void renumber() {
        std::vector<ShardId> now(m_into.size());
        std::vector<Shard> shards;
        std::vector<BlockId> places;
        for (std::size_t i = 0; i < m_into.size(); ++i) {
            if (m_into[i] != ShardId(i)) {
                now[i] = now[m_into[i].index()]; // an earlier one
                continue;
            }
            now[i] = ShardId(shards.size());
            shards.push_back(std::move(m_plan.shards[i]));
            places.push_back(m_fitted.layout.ofShard[i]);
        }
        m_plan.shards = std::move(shards);
        m_fitted.layout.ofShard = std::move(places);
        Residence& r = m_fitted.residence;
        for (auto* list :
             {&r.forRun, &r.forTokens, &r.encodeStreamed, &r.crossStreamed, &r.decodeStreamed,
              &m_plan.shardOfOp})
            for (ShardId& id : *list)
                if (id.valid())
                    id = now[id.index()];
    }

    Plan& m_plan;
    Fitted& m_fitted;
    bool m_isKnown; ///< and not just typical
    Bytes m_useful;
    std::vector<ShardId> m_into; ///< by ShardId: the one that holds it now
    bool m_hasMerged = false;
};

} // namespace

Bytes usefulReadOf(const BoardProfile& board, double limit) {
    double latencyNs = board.readLatencyNs, nsPerByte = 1e9 / board.readBytesPerSecond;
    if (board.hasReads(ReadPath::Direct)) {
        constexpr Bytes kSmall = base::kibibytes(64), kLarge = base::mebibytes(1);
        const double small = board.requestNs(ReadPath::Direct, kSmall);
        const double large = board.requestNs(ReadPath::Direct, kLarge);
        nsPerByte = std::max((large - small) / (kLarge - kSmall).real(), 1e-3);
        latencyNs = std::max(0.0, small - nsPerByte * kSmall.real());
    }
    if (limit > 0)
        nsPerByte = std::max(nsPerByte, 1e9 / limit);
    const double useful = std::clamp(latencyNs / nsPerByte / kWaste, 65536.0, 67108864.0);
    return Bytes(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(useful))));
}

RunConfig withUsefulRead(RunConfig config, const BoardProfile& board) {
    if (!config.usefulRead && board.hasReads(ReadPath::Direct))
        config.usefulRead =
            usefulReadOf(board, config.emulateRead ? config.emulateRead->real() : 0);
    return config;
}

void mergeReads(Plan& plan, Fitted& fitted) {
    Merger(plan, fitted).run();
}

} // namespace shardscope::plan
