// SPDX-License-Identifier: GPL-3.0-or-later
// The names behind the numbers of a trace. A recording carries its legend, so it can be read by a
// version whose planner would decide otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"

namespace shardscope::trace {

struct OpLegend {
    std::string name;
    model::OpKind kind = model::OpKind::Vector;
    std::int32_t layer = -1;
    std::uint32_t shard = base::ShardId::kNone;
};

struct ShardLegend {
    std::string name;    ///< "decoder layer 2", "vocabulary 5"
    base::Bytes bytes;   ///< read from the file
    base::Bytes held;    ///< held in the arena
    bool pinned = false; ///< stays once it is there
};

struct BufferLegend {
    std::string name;
    model::Region region = model::Region::Activations;
    base::Bytes bytes;
};

struct Legend {
    std::string planHash;
    base::Bytes peak;
    base::Bytes budget; ///< 0: none
    std::vector<OpLegend> ops;
    std::vector<ShardLegend> shards;
    std::vector<BufferLegend> buffers;
    std::vector<std::string> notes; ///< what Note events mean: fall-backs with their reasons
};

nlohmann::ordered_json toJson(const Legend& legend);

/// BadInput where a key is missing or of a wrong kind.
base::Result<Legend> legendFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::trace
