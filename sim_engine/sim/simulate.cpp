// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/sim/simulate.h"

#include <algorithm>
#include <cmath>

#include "sim_engine/plan/walk.h"
#include "sim_engine/sim/op_time.h"

namespace shardscope::sim {
namespace {

using base::ShardId;
using plan::Loader;
using plan::OpContext;
using trace::Event;

std::int32_t windowTokens(const plan::Plan& plan, const Workload& workload) {
    const std::int32_t most = plan.config.maxTokens;
    return workload.tokens > 0 ? std::min(workload.tokens, most) : most;
}

/// The executor on a virtual clock. Reads follow each other on the I/O lane: a read begins when it
/// was issued and the one before it is done.
class VirtualRun {
public:
    VirtualRun(
        const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload,
        std::vector<Event>& events)
        : m_plan(plan), m_board(board), m_times(plan, board), m_events(events),
          m_tokens(windowTokens(plan, workload)),
          m_readLimit(plan.config.emulateRead ? plan.config.emulateRead->real() : 0),
          m_lazy(plan.config.loader == Loader::Mmap), m_ready(plan.shards.size()),
          m_faults(plan.shards.size()) {
        for (const plan::Shard& shard : plan.shards)
            m_loadNs.push_back(loadTime(shard));
    }

    std::uint64_t now() const { return static_cast<std::uint64_t>(m_now); }
    void emit(const Event& event) {
        flushReads(event.isSpan() ? event.t_ns + event.a : event.t_ns);
        m_events.push_back(event);
    }
    bool goOn() const { return true; }

    void load(ShardId id, const plan::Block&) {
        const plan::Shard& shard = m_plan.shard(id);
        const double begin = std::max(m_ioFree, m_now);
        m_ioFree = begin + m_loadNs[id.index()];
        m_ready[id.index()] = m_ioFree;
        if (m_lazy)
            m_faults[id.index()] = true;
        const auto t = static_cast<std::uint64_t>(begin);
        m_reads.push_back(
            {t, static_cast<std::uint64_t>(m_ioFree) - t,
             static_cast<std::uint64_t>(shard.bytes.value), id.value, trace::EventKind::Read,
             trace::Lane::Io, 0});
    }
    void await(ShardId id) {
        m_now = std::max(m_now, m_ready[id.index()]);
        m_fresh = id;
    }
    void evict(ShardId, const plan::Block&) {}
    void readRows(const model::Op& op, const OpContext& c) {
        for (const base::TensorId tensor : op.rowReads) {
            const base::Bytes row = c.step == 0 ? m_plan.card->tensor(tensor).bytesPerRow()
                                                : m_plan.rowReadBytes(tensor);
            if (row.value > 0)
                m_now += c.rows() * m_board.readTime(row, m_readLimit).real();
        }
    }
    void compute(base::OpId id, const OpContext& c) {
        double time = m_times.nanos(id, c);
        const double together = std::clamp(m_ioFree - m_now, 0.0, time);
        time += m_board.overlap * together;
        if (m_fresh.valid() && m_faults[m_fresh.index()]) {
            // A lazy mapping: the pages come in while the op touches them.
            const plan::Shard& shard = m_plan.shard(m_fresh);
            time += m_board.readTime(shard.bytes, 0).real() +
                    m_board.pageFaultNs * shard.held.real() / plan::kPage;
            m_faults[m_fresh.index()] = false;
        }
        m_fresh = {};
        m_now += time;
    }
    void drain() { m_now = std::max(m_now, m_ioFree); }
    void settled(const OpContext&) {}
    void nextTokens(
        const OpContext& c, std::span<std::uint32_t> tokens, std::span<std::uint8_t> goOn) const {
        std::fill(tokens.begin(), tokens.end(), 0u);
        std::fill(goOn.begin(), goOn.end(), static_cast<std::uint8_t>(c.step + 1 < m_tokens));
    }
    /// All beams of a window are taken to be of one length.
    std::int32_t nextBeams(const OpContext& c, std::int32_t) {
        m_chosen.resize(static_cast<std::size_t>(c.step) + 1);
        return c.step + 1 < m_tokens ? m_plan.graph->beam : 0;
    }
    std::span<const std::uint32_t> tokensOf(std::int32_t) const { return m_chosen; }

private:
    double loadTime(const plan::Shard& shard) const {
        double time = 0;
        for (const plan::Extent& e : shard.extents)
            time += m_lazy ? m_board.pageFaultNs +
                                 (m_readLimit > 0 ? e.bytes.real() / m_readLimit * 1e9 : 0)
                           : m_board.readTime(e.bytes, m_readLimit).real();
        if (m_plan.config.loader == Loader::Populate)
            time += m_board.pageFaultNs * shard.held.real() / plan::kPage;
        return time;
    }
    /// Reads that ended by then stand before the events of the compute lane.
    void flushReads(std::uint64_t until) {
        for (; m_flushed < m_reads.size(); ++m_flushed) {
            const Event& read = m_reads[m_flushed];
            if (read.t_ns + read.a > until)
                return;
            m_events.push_back(read);
        }
        m_reads.clear();
        m_flushed = 0;
    }

    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    OpTimes m_times;
    std::vector<Event>& m_events;
    std::int32_t m_tokens;
    double m_readLimit;
    bool m_lazy;
    double m_now = 0, m_ioFree = 0;
    std::vector<double> m_loadNs; ///< by ShardId
    std::vector<double> m_ready;  ///< by ShardId: when its last load is done
    std::vector<bool> m_faults;   ///< by ShardId: mapped, and not touched yet
    ShardId m_fresh;
    std::vector<std::uint32_t> m_chosen; ///< of a window: nobody knows which
    std::vector<Event> m_reads;
    std::size_t m_flushed = 0;
};

} // namespace

trace::Trace
simulate(const plan::Plan& plan, const plan::BoardProfile& board, const Workload& workload) {
    trace::Trace trace;
    trace.legend = plan::legendOf(plan);
    const auto tokens = static_cast<std::size_t>(tokensOf(plan, workload));
    trace.events.reserve(plan.window.size() * 2 + tokens * (plan.graph->ops.size() + 64) * 5 / 4);
    VirtualRun run(plan, board, workload, trace.events);
    plan::Walk<VirtualRun>(plan, run).run(workload.windows);
    trace.complete = true;
    return trace;
}

} // namespace shardscope::sim
