// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through the steps of a plan, for the engine and the simulator alike, and tells what happens
// on the compute lane. What they differ in is the executor: one computes, the other adds up times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim_engine/plan/closing.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/event.h"

namespace shardscope::plan {

/// Where an op stands in the run. A window is one sequence of tokens, or as many as the search has
/// beams; the sequences of a batch are decoded together, always at the same position, until each
/// has come to its end.
struct OpContext {
    model::PassKind pass = model::PassKind::Encode;
    std::int32_t window = 0;   ///< of an encode or cross op; else the first of the batch
    std::int32_t sequence = 0; ///< of an encode or cross op: its place in the batch
    std::int32_t step = 0;     ///< decoding step; 0 is prefill
    std::int32_t position = 0; ///< text position of the first token
    std::int32_t tokens = 1;   ///< tokens of each sequence that the op works on
    /// The window of each sequence that goes on, as its place in the batch; in ascending order. A
    /// beam search names a place once for each beam.
    std::span<const std::int32_t> active{};
    bool settles = false; ///< the pass of one token that settles the prompt; see Graph

    std::int32_t sequences() const { return static_cast<std::int32_t>(active.size()); }
    /// Rows of a decoding op: sequence after sequence, token after token.
    std::int32_t rows() const { return sequences() * tokens; }
};

/// What walk() asks of an Executor (a class with these members):
///   std::uint64_t now();                        nanoseconds since the begin of the run
///   void emit(const trace::Event&);             an event of the compute lane
///   bool goOn();                                false when the run was stopped or has failed
///   void load(ShardId, const Block&);           hands the read to the I/O thread
///   void await(ShardId);                        returns when its last load is done
///   void evict(ShardId, const Block&);          its place is about to be reused
///   void readRows(const Op&, const OpContext&); rows of tables that are not resident
///   void compute(OpId, const OpContext&);
///   void drain();                               returns when all loads are done
///   void settled(const OpContext&);             the pass that settles the prompt is over
///   void nextTokens(const OpContext&, std::span<std::uint32_t> tokens, std::span<std::uint8_t>
///   goOn);
///                                               of each active sequence its token, and whether
///                                               its text goes on
/// and for a beam search instead of the last one
///   std::int32_t nextBeams(const OpContext&, std::int32_t place);
///                                               how many beams of this window go on
///   std::span<const std::uint32_t> tokensOf(std::int32_t place);
///                                               of the window, from the best beam so far
template <typename Executor>
class Walk {
public:
    Walk(const Plan& plan, Executor& executor)
        : m_plan(plan), m_graph(*plan.graph), m_executor(executor), m_fresh(plan.shards.size()) {
        const auto batch = static_cast<std::size_t>(m_graph.batch);
        m_active.reserve(batch * static_cast<std::size_t>(m_graph.beam));
        m_next.reserve(m_active.capacity());
        m_tokens.resize(batch);
        m_goesOn.resize(batch);
    }

    /// Runs all windows; the RunEnd event tells how it ended.
    void run(std::int32_t windows) {
        using trace::EventKind;
        const auto budget = m_plan.config.budget.value_or(base::Bytes(0));
        emit(EventKind::RunBegin, 0, m_plan.peak.value, budget.value, 0);
        for (std::int32_t first = 0; first < windows && m_executor.goOn(); first += m_graph.batch)
            runBatch(first, std::min(m_graph.batch, windows - first), windows);
        m_executor.drain();
        emit(EventKind::RunEnd, m_executor.goOn() ? 0 : 1, 0, 0, 0);
    }

private:
    void runBatch(std::int32_t first, std::int32_t count, std::int32_t windows) {
        const std::span<const Step> steps(m_plan.window);
        m_active.clear();
        for (std::int32_t sequence = 0; sequence < count && m_executor.goOn(); ++sequence) {
            const auto window = static_cast<std::uint32_t>(first + sequence);
            emit(trace::EventKind::Window, window, 0, 0, 0);
            m_context = {};
            m_context.window = first + sequence;
            m_context.sequence = sequence;
            m_phaseOpen = false;
            perform(steps.first(m_plan.prefillAt));
            m_active.push_back(sequence);
        }
        const bool settles = first == 0 && m_graph.settlesPrompt;
        if (settles)
            settlePrompt();
        m_context = {};
        m_context.window = first;
        m_context.tokens = m_graph.promptTokens;
        m_context.active = m_active;
        m_phaseOpen = false;
        perform(settles ? m_plan.settledPrefill : steps.subspan(m_plan.prefillAt));
        takeTokens();
        while (m_executor.goOn() && !m_active.empty() &&
               m_context.step < static_cast<std::int32_t>(m_plan.cycleOfStep.size())) {
            m_context.position += m_context.tokens;
            m_context.tokens = 1;
            ++m_context.step;
            enter(model::PassKind::Decode);
            perform(m_plan.stepsOf(m_context.step));
            takeTokens();
        }
        // A run that was stopped leaves the text so far.
        for (std::size_t i = 0; m_graph.beam > 1 && m_context.step > 0 && i < m_active.size(); ++i)
            if (i == 0 || m_active[i] != m_active[i - 1])
                tellTokens(m_active[i]);
        if (first + count >= windows || !m_executor.goOn())
            return;
        m_executor.drain();
        perform(closingSteps(m_plan, m_context.step));
    }

    /// The first window tells for all.
    void settlePrompt() {
        const auto alone = std::span<const std::int32_t>(m_active).first(m_active.empty() ? 0 : 1);
        m_context = {};
        m_context.active = alone;
        m_context.settles = true;
        m_phaseOpen = false;
        perform(m_plan.settle);
        if (m_executor.goOn())
            m_executor.settled(m_context);
    }

    void perform(std::span<const Step> steps) {
        for (const Step& step : steps) {
            if (!m_executor.goOn())
                return;
            if (step.firstWindowOnly && m_context.window > 0)
                continue;
            if (step.firstOfBatchOnly && m_context.sequence > 0)
                continue;
            perform(step);
        }
    }

    void perform(const Step& step) {
        using trace::EventKind;
        if (step.kind == StepKind::Compute)
            return compute(base::OpId(step.id));
        const Block& block = m_plan.block(step.block);
        const auto reason = static_cast<std::uint16_t>(step.reason);
        const auto region = static_cast<std::uint16_t>(block.region);
        switch (step.kind) {
        case StepKind::Load:
            emit(
                EventKind::Load, step.id, block.offset.value, m_plan.shards[step.id].held.value,
                reason);
            m_fresh[step.id] = true;
            return m_executor.load(base::ShardId(step.id), block);
        case StepKind::Evict:
            m_executor.evict(base::ShardId(step.id), block);
            return emit(
                EventKind::Evict, step.id, block.offset.value, m_plan.shards[step.id].held.value,
                reason);
        case StepKind::Alloc:
            return emit(EventKind::Alloc, step.id, block.offset.value, block.bytes.value, region);
        case StepKind::Free:
            return emit(EventKind::Free, step.id, block.offset.value, block.bytes.value, region);
        case StepKind::Compute:
            return;
        }
    }

    void compute(base::OpId id) {
        const model::Op& op = m_graph.op(id);
        if (m_context.step == 0)
            enter(passInWindow(id));
        const base::ShardId shard = m_plan.shardOfOp[id.index()];
        // Rows that prefill needs come before the tables are there; later steps find them resident.
        const bool prefillRows = !op.rowReads.empty() && m_context.step == 0;
        if (shard.valid() && !prefillRows && m_fresh[shard.index()]) {
            const std::uint64_t begin = m_executor.now();
            m_executor.await(shard);
            m_fresh[shard.index()] = false;
            span(trace::EventKind::Stall, begin, shard.value, 0, 0);
        }
        if (const base::Bytes rows = rowBytes(op); rows.value > 0) {
            const std::uint64_t begin = m_executor.now();
            m_executor.readRows(op, m_context);
            span(
                trace::EventKind::Read, begin, trace::kRowRead,
                static_cast<std::uint64_t>(rows.value), 0);
        }
        const std::uint64_t begin = m_executor.now();
        m_executor.compute(id, m_context);
        span(
            trace::EventKind::Compute, begin, id.value, static_cast<std::uint64_t>(m_context.step),
            static_cast<std::uint16_t>(m_context.pass));
    }

    /// Bytes of table rows that an op has to fetch by itself.
    base::Bytes rowBytes(const model::Op& op) const {
        base::Bytes sum;
        for (const base::TensorId tensor : op.rowReads)
            sum += m_context.step == 0
                       ? m_plan.card->tensor(tensor).bytesPerRow() * m_context.rows()
                       : m_plan.rowReadBytes(tensor) * m_context.rows();
        return sum;
    }

    model::PassKind passInWindow(base::OpId id) const {
        const std::size_t encode = m_graph.pass(model::PassKind::Encode).ops.size();
        const std::size_t cross = m_graph.pass(model::PassKind::Cross).ops.size();
        return id.index() < encode           ? model::PassKind::Encode
               : id.index() < encode + cross ? model::PassKind::Cross
                                             : model::PassKind::Prefill;
    }

    void enter(model::PassKind pass) {
        if (m_phaseOpen && m_context.pass == pass)
            return;
        m_phaseOpen = true;
        m_context.pass = pass;
        const std::int32_t rows = m_context.active.empty() ? 1 : m_context.rows();
        emit(trace::EventKind::Phase, static_cast<std::uint32_t>(pass), rows, m_context.window, 0);
    }

    /// The tokens that the pass gave; sequences whose text is over leave the batch.
    void takeTokens() {
        if (!m_executor.goOn())
            return;
        if (m_graph.beam > 1)
            return takeBeams();
        const std::size_t count = m_active.size();
        m_executor.nextTokens(
            m_context, std::span(m_tokens).first(count), std::span(m_goesOn).first(count));
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i) {
            emit(
                trace::EventKind::Token, m_tokens[i], m_context.step,
                m_context.window + m_active[i], 0);
            if (m_goesOn[i] != 0)
                m_active[kept++] = m_active[i];
        }
        m_active.resize(kept);
        m_context.active = m_active;
    }

    /// Beams end and split at each step. What a window says is known when its last beam is over, so
    /// its tokens are told then; each step is told as it comes, for the time that it took.
    void takeBeams() {
        const bool isLast = m_context.step >= static_cast<std::int32_t>(m_plan.cycleOfStep.size());
        m_next.clear();
        for (std::size_t begin = 0, end = 0; begin < m_active.size(); begin = end) {
            const std::int32_t place = m_active[begin];
            while (end < m_active.size() && m_active[end] == place)
                ++end;
            const std::int32_t beams = m_executor.nextBeams(m_context, place);
            emit(
                trace::EventKind::Step, static_cast<std::uint32_t>(end - begin), m_context.step,
                m_context.window + place, 0);
            if (beams == 0 || isLast)
                tellTokens(place);
            else
                m_next.insert(m_next.end(), static_cast<std::size_t>(beams), place);
        }
        std::swap(m_active, m_next);
        m_context.active = m_active;
    }

    void tellTokens(std::int32_t place) {
        std::int64_t number = 0;
        for (const std::uint32_t token : m_executor.tokensOf(place))
            emit(trace::EventKind::Token, token, number++, m_context.window + place, 0);
    }

    void emit(
        trace::EventKind kind, std::uint32_t id, std::int64_t a, std::int64_t b,
        std::uint16_t aux) {
        m_executor.emit(
            {m_executor.now(), static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b), id,
             kind, trace::Lane::Compute, aux});
    }
    void span(
        trace::EventKind kind, std::uint64_t begin, std::uint32_t id, std::uint64_t b,
        std::uint16_t aux) {
        m_executor.emit({begin, m_executor.now() - begin, b, id, kind, trace::Lane::Compute, aux});
    }

    const Plan& m_plan;
    const model::Graph& m_graph;
    Executor& m_executor;
    OpContext m_context;
    std::vector<std::int32_t> m_active; ///< see OpContext
    std::vector<std::int32_t> m_next;   ///< the same after the step
    std::vector<std::uint32_t> m_tokens;
    std::vector<std::uint8_t> m_goesOn;
    std::vector<bool> m_fresh; ///< by ShardId: loaded, and not used since
    bool m_phaseOpen = false;
};

} // namespace shardscope::plan
