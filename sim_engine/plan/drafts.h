// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/shards.h"

namespace shardscope::plan {

/// What of a plan depends on no budget: the graph and the shards. Most of the time of planning goes
/// into it.
struct Draft {
    std::shared_ptr<const model::Graph> graph;
    ShardTable table;
};

/// The drafts of one card that were used last, for whoever plans it again and again. Thread-safe.
class Drafts {
public:
    explicit Drafts(std::shared_ptr<const model::ModelCard> card, std::size_t most = 64)
        : m_card(std::move(card)), m_most(most) {}

    const std::shared_ptr<const model::ModelCard>& card() const { return m_card; }
    /// Null where it is not known.
    std::shared_ptr<const Draft> find(const RunConfig& config, const model::Thrift& thrift);
    void
    keep(const RunConfig& config, const model::Thrift& thrift, std::shared_ptr<const Draft> draft);

private:
    struct Known {
        RunConfig config; ///< without the knobs that no draft depends on
        unsigned thrift = 0;
        std::shared_ptr<const Draft> draft;
    };
    std::shared_ptr<const model::ModelCard> m_card;
    std::size_t m_most;
    std::mutex m_mutex;
    std::deque<Known> m_known; ///< the last used first
};

/// plan() of the drafts' card. Infeasible does not tell what the nearest would be: finding that out
/// takes longer than to plan.
base::Result<Planned> plan(Drafts& drafts, const RunConfig& config, const BoardProfile& board);

} // namespace shardscope::plan
