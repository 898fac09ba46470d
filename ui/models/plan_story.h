// SPDX-License-Identifier: GPL-3.0-or-later
// A plan in words: what went into it, what it decided, and why.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "sim_engine/plan/plan.h"

namespace shardscope::ui {

/// A line "name: value" of the card.
struct PlanFact {
    QString name;
    QString value;
};

/// Decisions that share a reason.
struct PlanDecision {
    QString reason;      ///< the planner's sentence
    QString amount;      ///< "6 shards, 12.1 MiB" or "14 times a token"
    QStringList details; ///< a line a shard: its name and size
};

struct PlanStory {
    QString hash;
    std::vector<PlanFact> inputs;  ///< model, board and what differs from the defaults
    std::vector<PlanFact> settled; ///< what the planner chose where it was left open
    std::vector<PlanFact> memory;  ///< where the peak goes, by region of the arena
    std::vector<PlanDecision> loads;
    std::vector<PlanDecision> evictions; ///< in a decode step of the steady state
};

/// `asked` is the configuration as the user gave it; the plan's own has its open knobs resolved.
PlanStory
planStory(const plan::Plan& plan, const plan::RunConfig& asked, const plan::BoardProfile& board);

} // namespace shardscope::ui
