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

ShardTable cutShards(
    const model::ModelCard& card, const model::Graph& graph, const model::Granularity& encoder,
    const model::Granularity& decoder);

} // namespace shardscope::plan
