// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "sim_engine/model/graph.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

/// The ops of encode and cross, one after the other: a tick each. Decoding is the tick after them.
std::vector<base::OpId> encodeOps(const model::Graph& graph);
std::int32_t decodeTick(const model::Graph& graph);
/// The last op of encode: here the encoder's slots give their place to those of cross.
std::int32_t lastEncodeTick(const model::Graph& graph);

/// What stays, and what streams through how many slots.
struct Residence {
    std::vector<base::ShardId> forRun;         ///< resident from first use to the end of the run
    std::vector<base::ShardId> forTokens;      ///< resident while tokens are decoded
    std::vector<base::ShardId> encodeStreamed; ///< in the order of use, once a window
    std::vector<base::ShardId> crossStreamed;  ///< likewise, of the cross pass
    std::vector<base::ShardId> decodeStreamed; ///< in the order of use, once a token
    std::int32_t encodeSlots = 0;
    std::int32_t crossSlots = 0;
    std::int32_t decodeSlots = 0;
};

/// A residence with everything in its place.
struct Layout {
    std::vector<Block> blocks;
    std::vector<base::BlockId> ofBuffer; ///< invalid for buffers of no bytes
    std::vector<base::BlockId> ofShard;  ///< of pinned shards
    std::vector<base::BlockId> encodeSlots;
    std::vector<base::BlockId> crossSlots;
    std::vector<base::BlockId> decodeSlots;
    base::Bytes peak;
};

Layout
layOut(const model::Graph& graph, const std::vector<Shard>& shards, const Residence& residence);

} // namespace shardscope::plan
