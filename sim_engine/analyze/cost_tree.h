// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time and the bytes of a run went: passes, the layers in them, and in these the ops and
// the shards that were read or waited for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::analyze {

struct CostNode {
    enum class Kind : std::uint8_t { Run, Pass, Layer, Op, Shard };
    Kind kind = Kind::Run;
    std::string name;
    std::uint32_t id = 0;   ///< PassKind, layer + 1 (0: outside the layers), OpId or ShardId
    std::int64_t ns = 0;    ///< computed or, of a shard, waited for
    std::int64_t bytes = 0; ///< read from storage
    std::int64_t count = 0; ///< times that the op was computed, or the shard read
    std::vector<CostNode> children;
};

/// What happened in [begin, end] of a run; spans that reach over an edge count with their part
/// within. Sums of children are those of their parent. Passes stand in their order, layers by
/// number, ops by id and shards behind them. Thread-safe.
CostNode costTree(const trace::Trace& trace, base::Nanos begin, base::Nanos end);

/// The leaves with the greatest time (or bytes), over all passes; at most `most`, sorted.
std::vector<CostNode> heaviestLeaves(const CostNode& tree, bool byBytes, std::size_t most);

} // namespace shardscope::analyze
