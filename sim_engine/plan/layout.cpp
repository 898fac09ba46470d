// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/layout.h"

#include <algorithm>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/arena.h"

namespace shardscope::plan {
namespace {

using base::BlockId;
using base::Bytes;
using base::ShardId;
using model::PassKind;
using model::Region;

/// When each buffer holds something. An op that writes a buffer without reading it begins a new
/// life; the one before ended with the last op that touched it.
std::vector<std::vector<Life>> bufferLives(const model::Graph& graph) {
    std::vector<std::vector<Life>> lives(graph.buffers.size());
    std::int32_t tick = 0;
    const auto touch = [&](base::BufferId id, bool anew) {
        std::vector<Life>& l = lives[id.index()];
        // A life that begins at the tick after the last one goes on with it: nobody else could have
        // had the place in between.
        if (l.empty() || (anew && l.back().last + 1 < tick))
            l.push_back({tick, tick});
        else
            l.back().last = tick;
    };
    const auto touchAll = [&](const model::Op& op) {
        for (const base::BufferId b : op.reads)
            touch(b, false);
        for (const base::BufferId b : op.writes)
            touch(b, std::find(op.reads.begin(), op.reads.end(), b) == op.reads.end());
    };
    for (const base::OpId id : encodeOps(graph)) {
        touchAll(graph.op(id));
        ++tick;
    }
    for (const base::OpId id : graph.pass(PassKind::Prefill).ops)
        touchAll(graph.op(id));
    return lives;
}

Bytes largest(const std::vector<Shard>& shards, const std::vector<ShardId>& ids) {
    Bytes most;
    for (const ShardId id : ids)
        most = std::max(most, shards[id.index()].held);
    return most;
}

} // namespace

std::vector<base::OpId> encodeOps(const model::Graph& graph) {
    std::vector<base::OpId> ops = graph.pass(PassKind::Encode).ops;
    const auto& cross = graph.pass(PassKind::Cross).ops;
    ops.insert(ops.end(), cross.begin(), cross.end());
    return ops;
}

std::int32_t lastEncodeTick(const model::Graph& graph) {
    return static_cast<std::int32_t>(graph.pass(PassKind::Encode).ops.size()) - 1;
}

std::int32_t decodeTick(const model::Graph& graph) {
    return static_cast<std::int32_t>(
        graph.pass(PassKind::Encode).ops.size() + graph.pass(PassKind::Cross).ops.size());
}

Layout
layOut(const model::Graph& graph, const std::vector<Shard>& shards, const Residence& residence) {
    const std::int32_t decode = decodeTick(graph);
    Layout layout;
    const auto add = [&](std::string name, Region region, Bytes bytes, std::vector<Life> lives) {
        layout.blocks.push_back({std::move(name), region, {}, bytes, std::move(lives)});
        return BlockId(layout.blocks.size() - 1);
    };
    layout.ofShard.resize(shards.size());
    for (const ShardId id : residence.forRun)
        layout.ofShard[id.index()] = add(
            shards[id.index()].name, Region::PinnedWeights, shards[id.index()].held, {{0, decode}});
    for (const ShardId id : residence.forTokens)
        layout.ofShard[id.index()] =
            add(shards[id.index()].name, Region::PinnedWeights, shards[id.index()].held,
                {{decode, decode}});
    const auto addSlots = [&](std::vector<BlockId>& out, const char* stack, std::int32_t count,
                              Bytes bytes, std::int32_t first, std::int32_t last) {
        for (std::int32_t i = 0; i < count; ++i)
            out.push_back(
                add(base::formatted("%s slot %d", stack, i), Region::StreamSlots, bytes,
                    {{first, last}}));
    };
    addSlots(
        layout.encodeSlots, "encoder", residence.encodeSlots,
        largest(shards, residence.encodeStreamed), 0, lastEncodeTick(graph));
    addSlots(
        layout.crossSlots, "cross", residence.crossSlots, largest(shards, residence.crossStreamed),
        lastEncodeTick(graph) + 1, decode - 1);
    addSlots(
        layout.decodeSlots, "decoder", residence.decodeSlots,
        largest(shards, residence.decodeStreamed), decode, decode);
    std::vector<std::vector<Life>> lives = bufferLives(graph);
    for (std::size_t i = 0; i < lives.size(); ++i) {
        const model::Buffer& b = graph.buffers[i];
        const bool used = !lives[i].empty() && b.bytes > Bytes(0);
        if (used && b.keptOverBatch)
            lives[i] = {{0, decode}};
        layout.ofBuffer.push_back(
            used ? add(b.name, b.region, b.bytes, std::move(lives[i])) : BlockId());
    }
    layout.peak = placeBlocks(layout.blocks, decode);
    return layout;
}

} // namespace shardscope::plan
