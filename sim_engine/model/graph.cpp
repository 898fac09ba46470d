// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/graph.h"

#include <array>

namespace shardscope::model {
namespace {

constexpr std::array<std::string_view, kRegionCount> kRegions{
    "pinned weights", "streaming slots", "self KV", "cross KV", "activations", "audio", "scratch"};
constexpr std::array<std::string_view, kPassCount> kPasses{"encode", "cross", "prefill", "decode"};
constexpr std::array<std::string_view, kOpKindCount> kKinds{"mel",       "matmul", "matvec",
                                                            "attention", "vector", "row_gather"};

} // namespace

std::string_view regionName(Region region) {
    return kRegions[static_cast<std::size_t>(region)];
}

std::string_view passName(PassKind kind) {
    return kPasses[static_cast<std::size_t>(kind)];
}

std::string_view opKindName(OpKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

} // namespace shardscope::model
