// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/schedule.h"

#include <algorithm>
#include <limits>

#include "sim_engine/plan/slot_cache.h"

namespace shardscope::plan {
namespace {

using base::BlockId;
using base::BufferId;
using base::OpId;
using base::ShardId;
using model::PassKind;
using Steps = std::vector<Step>;

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

/// Streams a cyclic list of shards through a cache, as far ahead as its slots allow.
class Stream {
public:
    Stream(SlotCache cache, std::int32_t slots) : m_cache(std::move(cache)), m_depth(slots) {}

    /// The access that comes next or is in use, counted over all cycles.
    std::int64_t next() const { return m_next; }
    /// An op that uses `shard` follows (none: it uses no weights). What was in use before is over.
    void enter(ShardId shard) {
        if (m_cache.empty() || !shard.valid())
            return;
        if (m_inUse && m_cache.shardAt(m_next) != shard)
            leave();
        m_inUse = m_inUse || m_cache.shardAt(m_next) == shard;
    }
    /// The pass is over.
    void leave() {
        if (m_inUse)
            ++m_next;
        m_inUse = false;
    }
    /// Issues reads for what comes next, `depth` accesses far and none at or beyond `limit`.
    void readAhead(std::int64_t limit, Steps& out) {
        if (m_cache.empty())
            return;
        while (m_issued < std::min(limit, m_next + m_depth) && m_cache.fetch(m_issued, m_next, out))
            ++m_issued;
    }
    /// Issues the read of exactly this access if its turn has come.
    bool readOne(std::int64_t access, Steps& out) {
        if (access < m_issued)
            return true;
        if (access >= m_next + m_depth || !m_cache.fetch(access, m_next, out))
            return false;
        m_issued = access + 1;
        return true;
    }
    bool issuedAll(std::int64_t count) const { return m_issued >= count; }
    std::int64_t length() const { return m_cache.empty() ? 0 : m_cache.cycleLength(); }
    void release(Reason reason, Steps& out) { m_cache.release(reason, out); }
    std::vector<std::int64_t> signature() const {
        auto state = m_cache.signature(m_next);
        state.push_back(m_issued - m_next);
        return state;
    }

private:
    SlotCache m_cache;
    std::int64_t m_depth;
    std::int64_t m_next = 0;
    std::int64_t m_issued = 0;
    bool m_inUse = false;
};

class Scheduler {
public:
    Scheduler(Plan& plan, const Residence& residence, const Layout& layout)
        : m_plan(plan), m_graph(*plan.graph), m_residence(residence), m_layout(layout),
          m_pinnedForRun(plan.shards.size()), m_pinnedForTokens(plan.shards.size()),
          m_issuedPin(plan.shards.size()) {
        for (const ShardId id : residence.forRun)
            m_pinnedForRun[id.index()] = true;
        for (const ShardId id : residence.forTokens)
            m_pinnedForTokens[id.index()] = true;
    }

    void run() {
        encode();
        if (m_graph.settlesPrompt)
            settle();
        Stream stream = decodeStream();
        buffers(StepKind::Alloc, decodeTick(m_graph), m_plan.window);
        prefill(stream, true, m_plan.window);
        decode(stream);
    }

private:
    ShardId shardOf(OpId op) const { return m_plan.shardOfOp[op.index()]; }
    bool isRows(ShardId id) const {
        return m_plan.shard(id).key.stack == model::ShardKey::Stack::Rows;
    }

    void encode();
    /// What a pass of the decoder uses, and how far its reads were issued.
    struct FirstPass {
        std::vector<ShardId> accesses;
        std::size_t issued = 0;
        std::int64_t streamed = 0; ///< of those issued
    };
    Stream decodeStream() const {
        return {
            SlotCache(m_layout.decodeSlots, m_residence.decodeStreamed, m_plan.config.policy),
            std::min(m_plan.config.slotCount, m_residence.decodeSlots)};
    }
    void settle();
    void prefill(Stream& stream, bool tokensFollow, Steps& out);
    void issuePrefill(Stream& stream, FirstPass& pass, bool tokensFollow, Steps& out);
    void decode(Stream& stream);
    void cycle(Stream& stream, std::int64_t limit, Steps& out) const;

    void compute(OpId op, Steps& out) const {
        out.push_back({StepKind::Compute, false, false, Reason::Streamed, op.value, {}});
    }
    /// The load of a pinned shard, once.
    void pin(ShardId id, Reason reason, Steps& out) {
        if (m_issuedPin[id.index()])
            return;
        m_issuedPin[id.index()] = true;
        out.push_back(
            {StepKind::Load, reason == Reason::PinnedForRun, false, reason, id.value,
             m_layout.ofShard[id.index()]});
    }
    void buffers(StepKind kind, std::int32_t tick, Steps& out) const {
        for (std::size_t i = 0; i < m_layout.ofBuffer.size(); ++i) {
            const BlockId block = m_layout.ofBuffer[i];
            if (!block.valid())
                continue;
            for (const Life& life : m_layout.blocks[block.index()].lives)
                if ((kind == StepKind::Alloc ? life.first : life.last) == tick)
                    out.push_back(
                        {kind, false, m_graph.buffers[i].keptOverBatch, Reason::Streamed,
                         static_cast<std::uint32_t>(i), block});
        }
    }

    Plan& m_plan;
    const model::Graph& m_graph;
    const Residence& m_residence;
    const Layout& m_layout;
    std::vector<bool> m_pinnedForRun, m_pinnedForTokens, m_issuedPin;
};

void Scheduler::encode() {
    Steps& out = m_plan.window;
    // What stays for the run and is used by the encoder is read first, in the order of its use;
    // what the decoder needs follows when the encoder's own reads are out.
    for (const ShardId id : m_residence.forRun)
        if (m_plan.shard(id).key.stack <= model::ShardKey::Stack::Cross)
            pin(id, Reason::PinnedForRun, out);
    Stream encoder(
        SlotCache(m_layout.encodeSlots, m_residence.encodeStreamed, Policy::Pin),
        m_residence.encodeSlots);
    Stream cross(
        SlotCache(m_layout.crossSlots, m_residence.crossStreamed, Policy::Pin),
        m_residence.crossSlots);
    std::vector<ShardId> later(m_residence.forRun);
    std::sort(later.begin(), later.end()); // shards are numbered in the order of their first use
    const std::vector<OpId> ops = encodeOps(m_graph);
    const std::int32_t lastEncode = lastEncodeTick(m_graph);
    for (std::int32_t tick = 0; tick < static_cast<std::int32_t>(ops.size()); ++tick) {
        const OpId op = ops[static_cast<std::size_t>(tick)];
        buffers(StepKind::Alloc, tick, out);
        encoder.enter(shardOf(op));
        encoder.readAhead(encoder.length(), out);
        cross.enter(shardOf(op));
        if (tick > lastEncode)
            cross.readAhead(cross.length(), out);
        if (encoder.issuedAll(encoder.length()) && cross.issuedAll(cross.length()))
            for (const ShardId id : later)
                pin(id, Reason::PinnedForRun, out);
        compute(op, out);
        if (tick == lastEncode)
            encoder.release(Reason::PhaseEnded, out);
        buffers(StepKind::Free, tick, out);
    }
    cross.release(Reason::PhaseEnded, out);
    m_plan.prefillAt = out.size();
}

/// Reads of the first decoding pass: pins that come now and streamed shards, in the order of use.
/// Pins have places of their own, so they wait for nothing but a streamed shard before them.
void Scheduler::issuePrefill(Stream& stream, FirstPass& pass, bool tokensFollow, Steps& out) {
    for (; pass.issued < pass.accesses.size(); ++pass.issued) {
        const ShardId id = pass.accesses[pass.issued];
        if (m_pinnedForRun[id.index()])
            continue;
        if (m_pinnedForTokens[id.index()]) {
            pin(id, Reason::PinnedForTokens, out);
        } else {
            if (!stream.readOne(pass.streamed, out))
                return;
            ++pass.streamed;
        }
    }
    if (tokensFollow && m_plan.config.maxTokens > 1)
        stream.readAhead(kEndless, out);
}

void Scheduler::prefill(Stream& stream, bool tokensFollow, Steps& out) {
    const std::vector<OpId>& ops = m_graph.pass(PassKind::Prefill).ops;
    FirstPass pass;
    for (const OpId op : ops) {
        const ShardId shard = shardOf(op);
        if (shard.valid() && !isRows(shard) &&
            (pass.accesses.empty() || pass.accesses.back() != shard))
            pass.accesses.push_back(shard);
    }
    for (const OpId op : ops) {
        stream.enter(shardOf(op));
        issuePrefill(stream, pass, tokensFollow, out);
        compute(op, out);
    }
    stream.leave();
}

/// The pass that settles the prompt takes the buffers and loads the pins that prefill would; what
/// it streams is let go, so that prefill and all that follows go as in every other window.
void Scheduler::settle() {
    buffers(StepKind::Alloc, decodeTick(m_graph), m_plan.settle);
    Stream stream = decodeStream();
    prefill(stream, false, m_plan.settle);
    stream.release(Reason::PhaseEnded, m_plan.settle);
    Stream after = decodeStream();
    prefill(after, true, m_plan.settledPrefill);
    for (const ShardId id : m_residence.forTokens) // the prefill of other windows loads them
        m_issuedPin[id.index()] = false;
}

/// One decoding step: every streamed shard once, the next ones read meanwhile.
void Scheduler::cycle(Stream& stream, std::int64_t limit, Steps& out) const {
    for (const OpId op : m_graph.pass(PassKind::Decode).ops) {
        stream.enter(shardOf(op));
        stream.readAhead(limit, out);
        compute(op, out);
    }
    stream.leave();
}

void Scheduler::decode(Stream& stream) {
    const std::int32_t steps = m_plan.config.maxTokens - 1;
    std::vector<std::vector<std::int64_t>> seen; // the state before each step so far
    for (std::int32_t step = 0; step < steps; ++step) {
        const bool isLast = step + 1 == steps;
        auto state = stream.signature();
        const auto before = std::find(seen.begin(), seen.end(), state);
        if (before != seen.end() && !isLast) {
            // From here on the steps repeat with this period; only the last, which reads nothing
            // ahead, differs. It starts from the state that the period gives.
            const auto first = static_cast<std::int32_t>(before - seen.begin());
            const std::int32_t period = step - first;
            for (; step + 1 < steps; ++step)
                m_plan.cycleOfStep.push_back(
                    m_plan.cycleOfStep[static_cast<std::size_t>(first + (step - first) % period)]);
            Steps unused;
            for (std::int32_t i = 0; i < (step - first) % period; ++i)
                cycle(stream, kEndless, unused);
        }
        seen.push_back(std::move(state));
        const bool last = step + 1 == steps;
        Steps list;
        cycle(stream, last ? stream.next() + stream.length() : kEndless, list);
        m_plan.cycleOfStep.push_back(static_cast<std::uint32_t>(m_plan.cycles.size()));
        m_plan.cycles.push_back(std::move(list));
    }
}

} // namespace

void scheduleSteps(Plan& plan, const Residence& residence, const Layout& layout) {
    Scheduler(plan, residence, layout).run();
}

} // namespace shardscope::plan
