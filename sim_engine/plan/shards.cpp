// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/shards.h"

#include <algorithm>
#include <map>

#include "sim_engine/base/format.h"

namespace shardscope::plan {
namespace {

using base::Bytes;
using base::ShardId;
using model::Granularity;
using model::ShardKey;
using Stack = model::ShardKey::Stack;

/// Tensor headers between two tensors are read along; a longer gap starts a new extent.
constexpr Bytes kSmallGap(512);

/// The key with everything dropped that the granularity does not tell apart.
ShardKey merged(ShardKey key, const Granularity& granularity) {
    if (key.stack == Stack::Vocabulary || granularity.kind == Granularity::Kind::Tensor)
        return key;
    key.part = 0;
    if (granularity.kind == Granularity::Kind::Layers) {
        key.sublayer = 0;
        if (key.layer >= 0)
            key.layer = key.layer / granularity.layers * granularity.layers;
    }
    return key;
}

std::string layersText(const char* stack, const ShardKey& key, const Granularity& g) {
    if (g.kind == Granularity::Kind::Layers && g.layers > 1)
        return base::formatted("%s layers %d+", stack, key.layer);
    return base::formatted("%s layer %d", stack, key.layer);
}

std::string nameOf(const ShardKey& key, const Granularity& g) {
    switch (key.stack) {
    case Stack::Vocabulary:
        return base::formatted("vocabulary %d", key.layer);
    case Stack::Rows:
        return "positions";
    case Stack::Cross:
        return layersText("cross", key, g) +
               (g.kind == Granularity::Kind::Tensor ? base::formatted(".%d", key.part) : "");
    case Stack::Encoder:
    case Stack::Decoder:
        break;
    }
    const bool encoder = key.stack == Stack::Encoder;
    std::string name =
        key.layer < 0 ? "convolutions" : layersText(encoder ? "encoder" : "decoder", key, g);
    if (g.kind != Granularity::Kind::Layers && key.layer >= 0) {
        const bool isMlp = encoder ? key.sublayer == 1 : key.sublayer == 2;
        name += isMlp ? " mlp" : key.sublayer == 0 ? " self" : " cross";
    }
    if (g.kind == Granularity::Kind::Tensor)
        name += base::formatted(".%d", key.part);
    return name;
}

FileRange rangeOf(const model::ModelCard& card, const model::WeightUse& use) {
    const model::TensorInfo& t = card.tensor(use.tensor);
    const Bytes begin = t.offset + t.bytesPerRow() * use.firstRow;
    return {begin, begin + t.bytesPerRow() * use.rowCount};
}

} // namespace

void placeExtents(Shard& shard, std::vector<FileRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
    std::vector<FileRange> joined;
    for (const FileRange& r : ranges) {
        if (!joined.empty() && r.begin <= joined.back().end + kSmallGap)
            joined.back().end = std::max(joined.back().end, r.end);
        else
            joined.push_back(r);
    }
    Bytes at;
    for (const FileRange& r : joined) {
        const Bytes place = at + Bytes(r.begin.value % kPage);
        shard.extents.push_back({r.begin, r.end - r.begin, place});
        shard.bytes += r.end - r.begin;
        at = base::alignUp(place + (r.end - r.begin), kPage);
    }
    shard.held = at;
}

ShardTable cutShards(
    const model::ModelCard& card, const model::Graph& graph, const Granularity& encoder,
    const Granularity& decoder) {
    ShardTable table;
    table.ofOp.resize(graph.ops.size());
    std::map<ShardKey, ShardId> byKey;
    std::vector<std::vector<FileRange>> ranges;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const model::Op& op = graph.ops[i];
        if (op.weights.empty())
            continue;
        const Granularity& g = op.key.stack == Stack::Encoder ? encoder : decoder;
        const ShardKey key = merged(op.key, g);
        const auto [found, isNew] = byKey.emplace(key, ShardId(table.shards.size()));
        if (isNew) {
            table.shards.push_back({nameOf(key, g), key, {}, {}, {}, false});
            ranges.emplace_back();
        }
        table.ofOp[i] = found->second;
        for (const model::WeightUse& use : op.weights)
            ranges[found->second.index()].push_back(rangeOf(card, use));
    }
    // A table that no op reads whole can still be kept whole: its rows then need no reads.
    for (const model::Op& op : graph.ops)
        for (std::size_t i = 0; i < op.rowReads.size(); ++i) {
            const base::TensorId tensor = op.rowReads[i];
            const bool used = std::any_of(graph.ops.begin(), graph.ops.end(), [&](auto& other) {
                return std::any_of(other.weights.begin(), other.weights.end(), [&](auto& w) {
                    return w.tensor == tensor;
                });
            });
            if (used)
                continue;
            const ShardKey key{Stack::Rows, 0, 0, static_cast<std::int32_t>(tensor.value)};
            table.ofOp[static_cast<std::size_t>(&op - graph.ops.data())] =
                ShardId(table.shards.size());
            table.shards.push_back({nameOf(key, decoder), key, {}, {}, {}, false});
            ranges.push_back({rangeOf(card, {tensor, 0, op.rowCounts[i]})});
        }
    for (std::size_t i = 0; i < table.shards.size(); ++i)
        placeExtents(table.shards[i], std::move(ranges[i]));
    return table;
}

} // namespace shardscope::plan
