// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim_engine/plan/cached_places.h"
#include "sim_engine/plan/walk.h"
#include "sim_engine/sim/op_time.h"
#include "sim_engine/sim/read_costs.h"
#include "sim_engine/sim/workload.h"

namespace shardscope::sim {

/// The executor of plan::Walk on virtual clocks; `sink` is called with each event. Reads follow
/// each other on the I/O lane: a read begins when it was issued and the one before it is done.
template <typename Sink>
class VirtualRun {
public:
    VirtualRun(
        const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload,
        Sink& sink)
        : m_plan(plan), m_board(board), m_workload(workload), m_sink(sink),
          m_reads(plan, board, isWarm(workload, board)), m_held(plan::heldSource(plan)),
          m_times(plan, board, m_reads.touchNsPerByte(false)),
          m_lanes(plan.shards.size(), m_reads.opShare(), m_reads.readShare()),
          m_tokens(tokensOf(plan, workload)), m_loaded(plan.shards.size()),
          m_touched(plan.blocks.size()), m_usedAt(plan.shards.size(), kNever),
          m_places(plan.blocks.size(), board.machine.cacheBytes),
          m_firstTouch(m_reads.touchNsPerByte(true) - m_reads.touchNsPerByte(false)) {
        m_lanes.pause(board.measured.startNs, told());
    }

    std::uint64_t now() const { return static_cast<std::uint64_t>(m_lanes.now()); }
    void emit(const trace::Event& event) {
        m_sink(event);
        if (event.kind == trace::EventKind::Compute)
            m_lanes.compute(m_board.measured.opGapNs, told());
    }
    bool goOn() const { return true; }

    void load(base::ShardId id, const plan::Block& block) {
        ReadWork work = m_reads.work(id, m_loaded[id.index()] == 0);
        const auto place = static_cast<std::size_t>(&block - m_plan.blocks.data());
        // The place of a pin for tokens was the encoder's.
        if (!m_touched[place] && !(m_plan.shard(id).pinned && block.lives.front().first > 0))
            work.activeNs += m_reads.freshNsPerByte() * m_plan.shard(id).bytes.real();
        m_touched[place] = true;
        if (m_reads.lostNsPerByte() > 0) {
            const double bytes = m_plan.shard(id).bytes.real();
            work.activeNs += m_places.fill(place, bytes) * m_reads.lostNsPerByte() * bytes;
        }
        m_lanes.issue(id, work);
        m_loaded[id.index()] = std::min(m_loaded[id.index()] + 1, 2);
    }
    void await(base::ShardId id) {
        if (m_lanes.await(id, told()))
            m_lanes.pause(m_reads.wakeNs(), told());
        m_fresh = id;
    }
    void evict(base::ShardId id, const plan::Block&) {
        m_lanes.await(id, told()); // as the engine does: a read ahead may be under way
        if (!m_reads.maps())
            return;
        m_lanes.awaitMoving(told());
        m_lanes.pause(m_reads.releaseNsPerByte() * m_plan.shard(id).held.real(), told());
    }
    void readRows(const model::Op& op, const plan::OpContext& c) {
        double time = 0;
        for (const base::TensorId tensor : op.rowReads) {
            const base::Bytes row = c.step == 0 ? m_plan.card->tensor(tensor).bytesPerRow()
                                                : m_plan.rowReadBytes(tensor);
            if (row.value > 0)
                time += c.rows() * m_reads.rowNs(row);
        }
        m_lanes.pause(time, told());
    }
    void compute(base::OpId id, const plan::OpContext& c) {
        const base::ShardId shard = m_plan.shardOfOp[id.index()];
        const std::int64_t moment =
            (static_cast<std::int64_t>(c.window + c.sequence) << 32) + c.step;
        if (m_fresh.valid())
            m_usedAt[m_fresh.index()] = moment;
        m_fresh = {};
        const bool isFresh = shard.valid() && m_usedAt[shard.index()] == moment;
        if (m_reads.lostNsPerByte() > 0 && m_plan.staysPinned(id))
            m_places.use(m_times.weightBytes(id));
        double time = m_times.nanos(id, c, isFresh ? m_reads.source() : m_held);
        if (isFresh && m_firstTouch != 0 && m_loaded[shard.index()] == 1)
            time += m_firstTouch * m_times.weightBytes(id);
        if (m_workload.audioSeconds > 0 && m_plan.graph->op(id).kind == model::OpKind::Mel)
            time *= audioShare(m_workload.audioSeconds, c.window);
        m_lanes.compute(time, told());
    }
    void drain() { m_lanes.drain(told()); }
    void settled(const plan::OpContext&) {}
    void nextTokens(
        const plan::OpContext& c, std::span<std::uint32_t> tokens, std::span<std::uint8_t> goOn) {
        m_lanes.compute(m_board.tokenFixedNs * static_cast<double>(tokens.size()), told());
        std::fill(tokens.begin(), tokens.end(), 0u);
        std::fill(goOn.begin(), goOn.end(), static_cast<std::uint8_t>(c.step + 1 < m_tokens));
    }
    /// All beams of a window are taken to be of one length.
    std::int32_t nextBeams(const plan::OpContext& c, std::int32_t) {
        m_lanes.compute(m_board.tokenFixedNs, told());
        m_chosen.resize(static_cast<std::size_t>(c.step) + 1);
        return c.step + 1 < m_tokens ? m_plan.graph->beam : 0;
    }
    std::span<const std::uint32_t> tokensOf(std::int32_t) const { return m_chosen; }

    static std::int32_t tokensOf(const plan::Plan& plan, const Workload& workload) {
        const std::int32_t most = plan.config.maxTokens;
        return workload.tokens > 0 ? std::min(workload.tokens, most) : most;
    }

private:
    static constexpr std::int64_t kNever = -1;

    /// Tells a read that is done.
    auto told() {
        return [this](const DoneRead& read) {
            const auto begin = static_cast<std::uint64_t>(read.begin);
            m_sink(trace::Event{
                begin, static_cast<std::uint64_t>(read.end) - begin,
                static_cast<std::uint64_t>(m_plan.shard(read.shard).bytes.value), read.shard.value,
                trace::EventKind::Read, trace::Lane::Io, 0});
        };
    }

    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    const Workload& m_workload;
    Sink& m_sink;
    ReadCosts m_reads;
    plan::WeightSource m_held; ///< of weights that were not just loaded
    OpTimes m_times;
    Lanes m_lanes;
    std::int32_t m_tokens;
    std::vector<std::int32_t> m_loaded; ///< by ShardId: how often, up to 2
    std::vector<bool> m_touched;        ///< by BlockId
    std::vector<std::int64_t> m_usedAt; ///< by ShardId: the first pass after its last load
    plan::CachedPlaces m_places;        ///< by BlockId
    double m_firstTouch;
    base::ShardId m_fresh;
    std::vector<std::uint32_t> m_chosen; ///< of a window: nobody knows which
};

/// Performs the plan; `sink` is called with each event, in the order of a trace.
template <typename Sink>
void simulateInto(
    const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload,
    Sink&& sink) {
    VirtualRun<std::remove_reference_t<Sink>> run(plan, board, workload, sink);
    plan::Walk<VirtualRun<std::remove_reference_t<Sink>>>(plan, run).run(workload.windows);
}

} // namespace shardscope::sim
