// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <variant>

#include "sim_engine/plan/layout.h"

namespace shardscope::plan {

/// A residence that fits, with its layout.
struct Fitted {
    Residence residence;
    Layout layout;
};

/// Bytes that no choice of pins can save: everything streams, nothing stays.
base::Bytes
leastPeak(const model::Graph& graph, const std::vector<Shard>& shards, std::int32_t slots);

/// What stays and what streams under the config's budget, pins, policy and slots; the bytes that
/// would be needed where that does not fit.
std::variant<Fitted, base::Bytes> chooseResidence(
    const model::Graph& graph, const std::vector<Shard>& shards, const RunConfig& config);

} // namespace shardscope::plan
