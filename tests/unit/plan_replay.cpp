// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan_replay.h"

#include <algorithm>
#include <map>
#include <span>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/closing.h"

namespace shardscope::test {
namespace {

using base::BlockId;
using base::Bytes;
using base::ShardId;
using plan::Plan;
using plan::Reason;
using plan::Step;
using plan::StepKind;

/// The arena at one moment.
class Arena {
public:
    explicit Arena(const Plan& plan)
        : m_plan(plan), m_shardAt(plan.shards.size()), m_bufferAt(plan.graph->buffers.size()) {}

    std::string take(const Step& step) {
        const bool weights = step.kind == StepKind::Load;
        BlockId& at = place(step);
        if (at.valid())
            return text(step) + " is there already";
        if (!step.block.valid())
            return text(step) + " has no place";
        const plan::Block& block = m_plan.block(step.block);
        const Bytes bytes =
            weights ? m_plan.shards[step.id].held : m_plan.graph->buffers[step.id].bytes;
        if (bytes > block.bytes)
            return text(step) + " is larger than its block " + block.name;
        const auto begin = block.offset.value, end = (block.offset + bytes).value;
        if (end > m_plan.peak.value)
            return text(step) + " ends beyond the peak";
        const auto after = m_live.lower_bound(begin);
        if (after != m_live.end() && after->first < end)
            return text(step) + " overlaps what follows it";
        if (after != m_live.begin() && std::prev(after)->second > begin)
            return text(step) + " overlaps what is before it";
        m_live[begin] = end;
        at = step.block;
        return {};
    }
    std::string release(const Step& step) {
        BlockId& at = place(step);
        if (at != step.block || !at.valid())
            return text(step) + " is not where it is released";
        m_live.erase(m_plan.block(at).offset.value);
        at = {};
        return {};
    }
    std::string check(const Step& step) const {
        const model::Op& op = m_plan.graph->ops[step.id];
        const ShardId shard = m_plan.shardOfOp[step.id];
        if (!op.weights.empty() && (!shard.valid() || !m_shardAt[shard.index()].valid()))
            return "weights of " + op.name + " are not resident";
        for (const auto* list : {&op.reads, &op.writes})
            for (const base::BufferId b : *list)
                if (m_plan.graph->buffer(b).bytes.value > 0 && !m_bufferAt[b.index()].valid())
                    return m_plan.graph->buffer(b).name + " of " + op.name + " is not there";
        return {};
    }
    bool isThere(const Step& step) const {
        const bool weights = step.kind == StepKind::Load;
        return (weights ? m_shardAt : m_bufferAt)[step.id] == step.block;
    }

private:
    BlockId& place(const Step& step) {
        const bool weights = step.kind == StepKind::Load || step.kind == StepKind::Evict;
        return weights ? m_shardAt[step.id] : m_bufferAt[step.id];
    }
    std::string text(const Step& step) const {
        const bool weights = step.kind == StepKind::Load || step.kind == StepKind::Evict;
        return weights ? "shard " + m_plan.shards[step.id].name
                       : "buffer " + m_plan.graph->buffers[step.id].name;
    }

    const Plan& m_plan;
    std::vector<BlockId> m_shardAt, m_bufferAt;
    std::map<std::int64_t, std::int64_t> m_live; ///< begin to end of all that is there
};

/// A step as it comes in a run; `isDone` where an earlier window did it and it is passed over.
struct Performed {
    Step step;
    bool isDone = false;
};

/// All steps of one batch in the order of the executor, closing included.
std::vector<Performed> stepsOfBatch(
    const Plan& plan, bool isFirst, std::int32_t count, std::int32_t lastStep, bool closes) {
    std::vector<Performed> all;
    const auto append = [&](std::span<const Step> steps, std::int32_t sequence) {
        const bool firstWindow = isFirst && sequence == 0;
        for (const Step& s : steps)
            all.push_back(
                {s, (s.firstWindowOnly && !firstWindow) || (s.firstOfBatchOnly && sequence > 0)});
    };
    const std::span<const Step> window(plan.window);
    for (std::int32_t sequence = 0; sequence < count; ++sequence)
        append(window.first(plan.prefillAt), sequence);
    if (isFirst && plan.graph->settlesPrompt) {
        append(plan.settle, 0);
        append(plan.settledPrefill, 0);
    } else {
        append(window.subspan(plan.prefillAt), 0);
    }
    for (std::int32_t step = 1; step <= lastStep; ++step)
        append(plan.stepsOf(step), 0);
    if (closes)
        append(plan::closingSteps(plan, lastStep), 0);
    return all;
}

/// For each eviction that makes room: is the evicted shard used before the one that takes its
/// place?
std::string checkEvictions(const Plan& plan, const std::vector<Performed>& steps) {
    constexpr std::size_t kNever = SIZE_MAX;
    std::vector<std::size_t> nextUse(plan.shards.size(), kNever);
    std::vector<std::size_t> loadedInto(plan.blocks.size(), kNever); // next load, by block
    for (std::size_t i = steps.size(); i-- > 0;) {
        const Step& step = steps[i].step;
        if (steps[i].isDone)
            continue;
        if (step.kind == StepKind::Compute) {
            const ShardId shard = plan.shardOfOp[step.id];
            if (shard.valid())
                nextUse[shard.index()] = i;
        } else if (step.kind == StepKind::Load) {
            loadedInto[step.block.index()] = i;
        } else if (step.kind == StepKind::Evict && step.reason != Reason::PhaseEnded) {
            const std::size_t load = loadedInto[step.block.index()];
            if (load == kNever)
                return "an eviction that makes room for nothing";
            const std::size_t use = nextUse[step.id], other = nextUse[steps[load].step.id];
            if (use != kNever && (use <= load || use < other))
                return base::formatted(
                    "%s is evicted for %s and needed before it", plan.shards[step.id].name.c_str(),
                    plan.shards[steps[load].step.id].name.c_str());
        }
    }
    return {};
}

/// Counts the loads of pinned shards by their reason.
class PinCounts {
public:
    explicit PinCounts(const Plan& plan)
        : m_plan(plan), m_run(plan.shards.size()), m_tokens(plan.shards.size()) {}

    std::string load(const Step& step) {
        const bool forRun = step.reason == Reason::PinnedForRun;
        const bool forTokens = step.reason == Reason::PinnedForTokens;
        if (forRun != step.firstWindowOnly)
            return "a load that later windows skip without its shard being pinned for the run";
        if ((forRun || forTokens) != m_plan.shards[step.id].pinned)
            return m_plan.shards[step.id].name + " is loaded with the wrong reason";
        m_run[step.id] += forRun;
        m_tokens[step.id] += forTokens;
        return {};
    }
    std::string check(int windows) const {
        for (std::size_t i = 0; i < m_run.size(); ++i)
            if (m_plan.shards[i].pinned && !(m_run[i] == 1 && m_tokens[i] == 0) &&
                !(m_run[i] == 0 && m_tokens[i] == windows))
                return base::formatted(
                    "%s is pinned and read %d + %d times in %d windows",
                    m_plan.shards[i].name.c_str(), m_run[i], m_tokens[i], windows);
        return {};
    }

private:
    const Plan& m_plan;
    std::vector<int> m_run, m_tokens;
};

} // namespace

std::string replay(const Plan& plan, const std::vector<std::int32_t>& lastSteps) {
    Arena arena(plan);
    PinCounts pins(plan);
    const std::int32_t batch = plan.graph->batch;
    for (std::size_t i = 0; i < lastSteps.size(); ++i) {
        const bool closes = i + 1 < lastSteps.size();
        const std::int32_t count = closes ? batch : (batch + 1) / 2; // the last is seldom full
        const auto steps = stepsOfBatch(plan, i == 0, count, lastSteps[i], closes);
        if (auto wrong = checkEvictions(plan, steps); !wrong.empty())
            return wrong;
        for (const auto& [step, isDone] : steps) {
            std::string wrong;
            if (isDone)
                wrong = arena.isThere(step) ? "" : "what an earlier window did is not there";
            else if (step.kind == StepKind::Compute)
                wrong = arena.check(step);
            else if (step.kind == StepKind::Load || step.kind == StepKind::Alloc)
                wrong = arena.take(step);
            else
                wrong = arena.release(step);
            if (wrong.empty() && !isDone && step.kind == StepKind::Load)
                wrong = pins.load(step);
            if (!wrong.empty())
                return base::formatted("batch %zu: ", i) + wrong;
        }
    }
    return pins.check(static_cast<int>(lastSteps.size()));
}

namespace {

/// Sorted, and with a tick between them in which somebody else can have the place.
bool areLives(const std::vector<plan::Life>& lives) {
    for (std::size_t i = 0; i < lives.size(); ++i)
        if (lives[i].first > lives[i].last || (i > 0 && lives[i - 1].last + 1 >= lives[i].first))
            return false;
    return !lives.empty();
}

bool meet(const std::vector<plan::Life>& a, const std::vector<plan::Life>& b) {
    for (const plan::Life& x : a)
        for (const plan::Life& y : b)
            if (x.first <= y.last && y.first <= x.last)
                return true;
    return false;
}

} // namespace

std::string checkMap(const Plan& plan) {
    Bytes most;
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
        const plan::Block& x = plan.blocks[i];
        if (x.offset.value < 0 || x.offset.value % plan::kPage != 0 || x.bytes.value <= 0 ||
            !areLives(x.lives))
            return x.name + " has an impossible place or life";
        most = std::max(most, x.offset + x.bytes);
        for (std::size_t j = 0; j < i; ++j) {
            const plan::Block& y = plan.blocks[j];
            if (meet(x.lives, y.lives) && x.offset < y.offset + y.bytes &&
                y.offset < x.offset + x.bytes)
                return x.name + " overlaps " + y.name;
        }
    }
    if (most != plan.peak)
        return "the peak is not that of the map";
    if (plan.config.budget && plan.peak > *plan.config.budget)
        return "the peak is above the budget";
    return {};
}

std::string checkShards(const Plan& plan) {
    for (const plan::Shard& shard : plan.shards) {
        Bytes end, sum;
        for (const plan::Extent& e : shard.extents) {
            if (e.place < end || e.place.value % plan::kPage != e.fileOffset.value % plan::kPage)
                return shard.name + " has an extent in the wrong place";
            end = base::alignUp(e.place + e.bytes, plan::kPage);
            sum += e.bytes;
        }
        if (end != shard.held || sum != shard.bytes)
            return shard.name + " has wrong sums";
    }
    for (std::size_t i = 0; i < plan.graph->ops.size(); ++i)
        for (const model::WeightUse& use : plan.graph->ops[i].weights) {
            const model::TensorInfo& t = plan.card->tensor(use.tensor);
            const Bytes begin = t.offset + t.bytesPerRow() * use.firstRow;
            const Bytes end = begin + t.bytesPerRow() * use.rowCount;
            const auto& extents = plan.shard(plan.shardOfOp[i]).extents;
            if (std::none_of(extents.begin(), extents.end(), [&](const plan::Extent& e) {
                    return e.fileOffset <= begin && end <= e.fileOffset + e.bytes;
                }))
                return plan.graph->ops[i].name + " uses bytes that its shard does not hold";
        }
    return {};
}

} // namespace shardscope::test
