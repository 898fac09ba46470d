// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <optional>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/drafts.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/merge_reads.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/residence.h"
#include "sim_engine/plan/schedule.h"
#include "sim_engine/plan/shards.h"

namespace shardscope::plan {
namespace {

using base::Bytes;
using base::Result;
using base::ShardId;
using model::Graph;
using model::KvType;
using model::ModelCard;
using model::Region;
using Stack = model::ShardKey::Stack;

/// How the engine may work, the fastest first. The next one is for budgets that the ones before it
/// do not fit; none needs less than all others do, whatever the model and the shards.
constexpr std::array<model::Thrift, 5> kThrift{
    {{},
     {.scratch = true},
     {.scratch = true, .mlp = true},
     {.scratch = true, .stem = true, .attention = true},
     {.scratch = true, .stem = true, .attention = true, .mlp = true}}};

Result<Graph>
graphOf(const ModelCard& card, const RunConfig& config, const model::Thrift& thrift = {}) {
    model::GraphOptions options;
    options.thrift = thrift;
    options.selfKv = config.kv;
    options.crossKv = config.crossKv;
    options.crossKeep = config.crossKeep;
    options.audioPositions = config.audioCtx;
    options.maxTokens = config.maxTokens;
    options.promptTokens = config.promptTokens;
    options.timestamps = config.timestamps;
    options.detectLanguage = config.language == kAutoLanguage;
    options.vocabShards = config.vocabShards;
    options.batch = config.batch;
    options.beam = config.beam;
    options.threads = config.threads;
    options.decoder = config.decoderShard;
    return model::buildGraph(card, options);
}

/// Ways to make a config need less, from the mildest to the thriftiest; each adds to the ones
/// before it.
constexpr std::array<void (*)(RunConfig&), 6> kFrugal{
    [](RunConfig& c) {
        if (c.pin.kind == PinChoice::Kind::All)
            c.pin = {};
    },
    [](RunConfig& c) {
        c.encoderShard = c.decoderShard = {model::Granularity::Kind::Sublayer, 1};
        c.vocabShards = 0;
    },
    [](RunConfig& c) {
        c.encoderShard = c.decoderShard = {model::Granularity::Kind::Tensor, 1};
    },
    [](RunConfig& c) { c.crossKv = KvType::Shared; }, // exact, and costs time while decoding
    [](RunConfig& c) { c.slotCount = 1; },
    [](RunConfig& c) {
        c.kv = std::max(c.kv, KvType::Q8); // the types stand from the widest to the narrowest
    },
};

/// The flags that lead from one config to another.
std::string flagsBetween(const RunConfig& from, const RunConfig& to) {
    std::string text;
    for (const Knob& knob : knobs())
        if (const std::string value = knob.print(to); value != knob.print(from)) {
            if (!text.empty())
                text += ' ';
            text.append(knob.flag).append(" ").append(value);
        }
    return text;
}

Bytes leastPeakOf(const ModelCard& card, const RunConfig& config) {
    Bytes least(INT64_MAX);
    for (const model::Thrift& thrift : kThrift) {
        const auto graph = graphOf(card, config, thrift);
        if (!graph)
            break;
        const ShardTable table = cutShards(card, *graph, config.encoderShard, config.decoderShard);
        least = std::min(least, leastPeak(*graph, table.shards, config.slotCount));
    }
    return least;
}

/// Whole MiB, rounded up, as a budget is given.
std::string budgetText(Bytes n) {
    return base::formatted("%lldMiB", static_cast<long long>((n.value + (1 << 20) - 1) >> 20));
}

/// The nearest that fits: milder choices first; else the smallest budget that any of them needs.
std::string nearestFit(const ModelCard& card, const RunConfig& config, Bytes needed) {
    RunConfig thrifty = config;
    Bytes least = needed;
    std::string leastFlags;
    for (const auto apply : kFrugal) {
        apply(thrifty);
        const Bytes peak = leastPeakOf(card, thrifty);
        if (peak <= *config.budget)
            return flagsBetween(config, thrifty) + " fits (" + base::bytesText(peak) + ")";
        if (peak < least) {
            least = peak;
            leastFlags = flagsBetween(config, thrifty);
        }
    }
    std::string text = "--budget " + budgetText(needed) + " fits these settings";
    if (!leastFlags.empty())
        text += "; the least is --budget " + budgetText(least) + " with " + leastFlags;
    return text;
}

/// Continues an FNV-1a hash, eight bytes at a time.
void mix(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x100000001B3u;
    hash ^= hash >> 29;
}

std::uint64_t hashOf(const Plan& plan) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    const auto bytes = [&](Bytes b) { mix(hash, static_cast<std::uint64_t>(b.value)); };
    for (const Shard& s : plan.shards)
        for (const Extent& e : s.extents)
            bytes(e.fileOffset), bytes(e.bytes), bytes(e.place);
    for (const Block& b : plan.blocks)
        bytes(b.offset), bytes(b.bytes), mix(hash, static_cast<std::uint64_t>(b.region));
    const auto steps = [&](const std::vector<Step>& list) {
        for (const Step& s : list)
            mix(hash, (static_cast<std::uint64_t>(s.kind) << 60) ^
                          (static_cast<std::uint64_t>(s.firstWindowOnly) << 57) ^
                          (static_cast<std::uint64_t>(s.firstOfBatchOnly) << 56) ^
                          (static_cast<std::uint64_t>(s.block.value) << 24) ^ s.id);
    };
    steps(plan.window);
    mix(hash, plan.prefillAt);
    steps(plan.settle);
    steps(plan.settledPrefill);
    for (const auto& list : plan.cycles)
        steps(list);
    for (const std::uint32_t cycle : plan.cycleOfStep)
        mix(hash, cycle);
    return hash;
}

/// Sums and tables that follow from the decisions.
void fillFigures(Plan& plan, const Residence& residence) {
    std::vector<bool> stays(plan.shards.size());
    for (const auto* part : {&residence.forRun, &residence.forTokens})
        for (const ShardId id : *part)
            stays[id.index()] = true;
    for (std::size_t i = 0; i < stays.size(); ++i) {
        plan.shards[i].pinned = stays[i];
        if (stays[i])
            plan.pinnedBytes += plan.shards[i].bytes;
    }
    for (const model::Buffer& b : plan.graph->buffers) {
        plan.crossKvBytes += b.region == Region::CrossKv ? b.bytes : Bytes(0);
        plan.selfKvBytes += b.region == Region::SelfKv ? b.bytes : Bytes(0);
    }
    plan.rowsResident.assign(plan.card->tensors.size(), false);
    for (std::size_t i = 0; i < plan.graph->ops.size(); ++i)
        for (const base::TensorId tensor : plan.graph->ops[i].rowReads) {
            bool any = false, all = true; // ops that use this table whole: are they all resident?
            for (std::size_t j = 0; j < plan.graph->ops.size(); ++j)
                for (const model::WeightUse& use : plan.graph->ops[j].weights)
                    if (use.tensor == tensor) {
                        any = true;
                        all = all && stays[plan.shardOfOp[j].index()];
                    }
            const ShardId own = plan.shardOfOp[i];
            const bool ownTable =
                own.valid() && plan.shard(own).key.part == static_cast<std::int32_t>(tensor.value);
            plan.rowsResident[tensor.index()] = any ? all : ownTable && stays[own.index()];
        }
    // A rows shard that does not stay is no shard at all: its op reads rows.
    for (ShardId& id : plan.shardOfOp)
        if (id.valid() && plan.shard(id).key.stack == Stack::Rows && !stays[id.index()])
            id = ShardId();
}

/// Bytes a token in the steady state: the mean over the steps before the last.
void fillStreamed(Plan& plan) {
    Bytes rows;
    for (const base::OpId op : plan.graph->pass(model::PassKind::Decode).ops)
        for (const base::TensorId tensor : plan.graph->op(op).rowReads)
            rows += plan.rowReadBytes(tensor);
    Bytes loads;
    std::int64_t steps = 0;
    const std::size_t count = plan.cycleOfStep.size();
    for (std::size_t i = count > 2 ? 1 : 0; i + 1 < std::max<std::size_t>(count, 2) && i < count;
         ++i) {
        for (const Step& s : plan.cycles[plan.cycleOfStep[i]])
            if (s.kind == StepKind::Load)
                loads += plan.shards[s.id].bytes;
        ++steps;
    }
    plan.streamedPerToken = rows + Bytes(steps > 0 ? loads.value / steps : 0);
}

/// The graph and shards of a config for one way of working.
Result<std::shared_ptr<const Draft>>
draftOf(Drafts& drafts, const RunConfig& config, const model::Thrift& thrift) {
    if (auto known = drafts.find(config, thrift))
        return known;
    auto graph = graphOf(*drafts.card(), config, thrift);
    if (!graph)
        return graph.error();
    auto draft = std::make_shared<Draft>();
    draft->table = cutShards(*drafts.card(), *graph, config.encoderShard, config.decoderShard);
    draft->graph = std::make_shared<const Graph>(std::move(*graph));
    drafts.keep(config, thrift, draft);
    return std::shared_ptr<const Draft>(std::move(draft));
}

/// Whether all weights might stay under this budget, could the rest do with nothing.
bool mightKeepAll(const std::vector<Shard>& shards, const RunConfig& config) {
    using Kind = PinChoice::Kind;
    if (config.pin.kind != Kind::Auto && config.pin.kind != Kind::All)
        return false;
    Bytes sum;
    for (const Shard& shard : shards)
        sum += shard.held;
    return !config.budget || sum <= *config.budget;
}

bool streams(const Residence& r) {
    return r.encodeSlots + r.crossSlots + r.decodeSlots > 0;
}

/// The fastest way of working that fits, with its residence; but rather than to stream, products
/// pack less at a time. (To work in parts would cost more than reads from a fast device do.) Where
/// none fits, what the least needs.
Result<std::variant<Fitted, Bytes>> fitted(Drafts& drafts, Plan& plan) {
    Bytes least(INT64_MAX);
    std::shared_ptr<const Draft> best;
    std::optional<Fitted> fitted;
    for (const model::Thrift& thrift : kThrift) {
        if (fitted && (thrift.stem || thrift.attention || thrift.mlp))
            break;
        auto draft = draftOf(drafts, plan.config, thrift);
        if (!draft)
            return draft.error();
        const std::vector<Shard>& shards = (*draft)->table.shards;
        auto chosen = chooseResidence(*(*draft)->graph, shards, plan.config);
        if (const Bytes* needed = std::get_if<Bytes>(&chosen)) {
            least = std::min(least, *needed);
            continue;
        }
        const bool keepsAll = !streams(std::get<Fitted>(chosen).residence);
        if (!fitted || keepsAll) {
            best = *draft;
            fitted = std::get<Fitted>(std::move(chosen));
        }
        if (keepsAll || !mightKeepAll(shards, plan.config))
            break;
    }
    if (!fitted)
        return std::variant<Fitted, Bytes>(least);
    plan.config.maxTokens = std::min(plan.config.maxTokens, best->graph->mostTokens);
    plan.graph = best->graph;
    plan.shards = best->table.shards;
    plan.shardOfOp = best->table.ofOp;
    return std::variant<Fitted, Bytes>(*std::move(fitted));
}

/// plan(), with or without the nearest that fits.
Result<Planned>
planned(Drafts& drafts, const RunConfig& config, const BoardProfile& board, bool tellNearest) {
    Plan plan;
    plan.config = config;
    if (plan.config.threads == 0)
        plan.config.threads = std::max(1, board.fastCores);
    plan.config = withUsefulRead(plan.config, board);
    plan.card = drafts.card();
    auto chosen = fitted(drafts, plan);
    if (!chosen)
        return chosen.error();
    if (const Bytes* needed = std::get_if<Bytes>(&*chosen))
        return Planned(Infeasible{
            *needed, *config.budget,
            tellNearest ? nearestFit(*plan.card, plan.config, *needed) : std::string()});
    Fitted& fitted = std::get<Fitted>(*chosen);
    mergeReads(plan, fitted);
    fillFigures(plan, fitted.residence);
    scheduleSteps(plan, fitted.residence, fitted.layout);
    plan.blocks = std::move(fitted.layout.blocks);
    plan.blockOfBuffer = std::move(fitted.layout.ofBuffer);
    plan.peak = fitted.layout.peak;
    fillStreamed(plan);
    plan.hash = hashOf(plan);
    return Planned(std::move(plan));
}

} // namespace

Result<Planned>
plan(std::shared_ptr<const ModelCard> card, const RunConfig& config, const BoardProfile& board) {
    Drafts drafts(std::move(card), kThrift.size());
    return planned(drafts, config, board, true);
}

Result<Planned> plan(Drafts& drafts, const RunConfig& config, const BoardProfile& board) {
    return planned(drafts, config, board, false);
}

} // namespace shardscope::plan
