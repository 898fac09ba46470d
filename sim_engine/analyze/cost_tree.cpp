// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/cost_tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace shardscope::analyze {
namespace {

using model::PassKind;
using trace::Event;
using trace::EventKind;

struct Cost {
    std::int64_t ns = 0, bytes = 0, count = 0;

    bool empty() const { return ns == 0 && bytes == 0 && count == 0; }
};

/// Costs of one pass, by OpId and by ShardId; rows that are read by themselves stand behind the
/// shards.
struct PassCosts {
    std::vector<Cost> ops, shards;
};

class Builder {
public:
    Builder(const trace::Legend& legend, base::Nanos begin, base::Nanos end)
        : m_legend(legend), m_begin(begin.value), m_end(end.value) {
        for (PassCosts& pass : m_passes) {
            pass.ops.resize(legend.ops.size());
            pass.shards.resize(legend.shards.size() + 1);
        }
        // A shard stands in the layer of the first op that uses it.
        m_layerOfShard.assign(legend.shards.size() + 1, -1);
        for (std::size_t i = legend.ops.size(); i-- > 0;)
            if (legend.ops[i].shard < legend.shards.size())
                m_layerOfShard[legend.ops[i].shard] = legend.ops[i].layer;
    }

    void add(const Event& e) {
        if (e.kind == EventKind::Phase && e.id < model::kPassCount)
            m_pass = e.id;
        if (e.end().value < m_begin || e.start().value > m_end)
            return;
        switch (e.kind) {
        case EventKind::Compute:
            if (e.id < m_legend.ops.size())
                take(m_passes[std::min<std::size_t>(e.aux, model::kPassCount - 1)].ops[e.id], e);
            break;
        case EventKind::Stall:
            if (e.id < m_legend.shards.size())
                m_passes[m_pass].shards[e.id].ns += within(e);
            break;
        case EventKind::Read: {
            Cost& cost = m_passes[m_pass].shards[std::min(rowIndex(), std::size_t{e.id})];
            cost.bytes += static_cast<std::int64_t>(e.b);
            ++cost.count;
            if (e.id == trace::kRowRead)
                cost.ns += within(e); // nothing hides it
            break;
        }
        default:
            break;
        }
    }

    CostNode tree() const {
        CostNode run;
        run.name = "run";
        for (std::size_t pass = 0; pass < model::kPassCount; ++pass) {
            CostNode node = passNode(pass);
            if (node.children.empty())
                continue;
            adopt(run, std::move(node));
        }
        return run;
    }

private:
    std::size_t rowIndex() const { return m_legend.shards.size(); }
    std::int64_t within(const Event& e) const {
        return std::min(e.end().value, m_end) - std::max(e.start().value, m_begin);
    }
    void take(Cost& cost, const Event& e) const {
        cost.ns += within(e);
        ++cost.count;
    }

    static void adopt(CostNode& parent, CostNode child) {
        parent.ns += child.ns;
        parent.bytes += child.bytes;
        parent.count += child.count;
        parent.children.push_back(std::move(child));
    }

    CostNode passNode(std::size_t pass) const {
        std::map<std::int32_t, CostNode> layers;
        const auto put = [&layers](std::int32_t layer, CostNode leaf) {
            CostNode& node = layers[layer];
            node.kind = CostNode::Kind::Layer;
            node.id = static_cast<std::uint32_t>(layer + 1);
            node.name = layer < 0 ? "outside the layers" : "layer " + std::to_string(layer);
            adopt(node, std::move(leaf));
        };
        const PassCosts& costs = m_passes[pass];
        for (std::size_t i = 0; i < costs.ops.size(); ++i)
            if (!costs.ops[i].empty())
                put(m_legend.ops[i].layer,
                    leafOf(CostNode::Kind::Op, m_legend.ops[i].name, i, costs.ops[i]));
        for (std::size_t i = 0; i < costs.shards.size(); ++i)
            if (!costs.shards[i].empty())
                put(m_layerOfShard[i],
                    leafOf(
                        CostNode::Kind::Shard,
                        i == rowIndex() ? "rows of tables" : m_legend.shards[i].name, i,
                        costs.shards[i]));
        CostNode node;
        node.kind = CostNode::Kind::Pass;
        node.id = static_cast<std::uint32_t>(pass);
        node.name = std::string(model::passName(static_cast<PassKind>(pass)));
        for (auto& [layer, child] : layers)
            adopt(node, std::move(child));
        return node;
    }

    static CostNode
    leafOf(CostNode::Kind kind, const std::string& name, std::size_t id, const Cost& cost) {
        return {kind, name, static_cast<std::uint32_t>(id), cost.ns, cost.bytes, cost.count, {}};
    }

    const trace::Legend& m_legend;
    std::int64_t m_begin, m_end;
    std::array<PassCosts, model::kPassCount> m_passes;
    std::vector<std::int32_t> m_layerOfShard;
    std::size_t m_pass = 0;
};

void collect(const CostNode& node, std::map<std::pair<int, std::uint32_t>, CostNode>& leaves) {
    if (node.kind != CostNode::Kind::Op && node.kind != CostNode::Kind::Shard) {
        for (const CostNode& child : node.children)
            collect(child, leaves);
        return;
    }
    auto [at, isNew] = leaves.emplace(std::pair(static_cast<int>(node.kind), node.id), node);
    if (isNew)
        return;
    at->second.ns += node.ns;
    at->second.bytes += node.bytes;
    at->second.count += node.count;
}

} // namespace

CostNode costTree(const trace::Trace& trace, base::Nanos begin, base::Nanos end) {
    Builder builder(trace.legend, begin, end);
    for (const Event& e : trace.events)
        builder.add(e);
    return builder.tree();
}

std::vector<CostNode> heaviestLeaves(const CostNode& tree, bool byBytes, std::size_t most) {
    std::map<std::pair<int, std::uint32_t>, CostNode> leaves;
    collect(tree, leaves);
    std::vector<CostNode> sorted;
    for (auto& [key, leaf] : leaves)
        if ((byBytes ? leaf.bytes : leaf.ns) > 0)
            sorted.push_back(std::move(leaf));
    std::stable_sort(sorted.begin(), sorted.end(), [byBytes](const auto& a, const auto& b) {
        return byBytes ? a.bytes > b.bytes : a.ns > b.ns;
    });
    if (sorted.size() > most)
        sorted.resize(most);
    return sorted;
}

} // namespace shardscope::analyze
