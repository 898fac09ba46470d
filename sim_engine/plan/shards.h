// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "sim_engine/model/graph.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

/// The shards of a model under two granularities, in the order of their first use, and for each op
/// the shard that holds its weights. The last shards are those of Stack::Rows: tables of which the
/// engine otherwise reads single rows.
struct ShardTable {
    std::vector<Shard> shards;
    std::vector<base::ShardId> ofOp;
};

/// A contiguous piece of the model file.
struct FileRange {
    base::Bytes begin, end;
};

/// Lays file ranges into whole pages as the extents of a shard that has none, each with the offset
/// that it has in its page; sets `bytes` and `held`. Ranges that all but touch become one extent.
void placeExtents(Shard& shard, std::vector<FileRange> ranges);

ShardTable cutShards(
    const model::ModelCard& card, const model::Graph& graph, const model::Granularity& encoder,
    const model::Granularity& decoder);

} // namespace shardscope::plan
