// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_agent/engine/weights/io_thread.h"
#include "device_agent/engine/weights/row_reader.h"
#include "device_agent/engine/whisper/run_state.h"
#include "sim_engine/plan/walk.h"

namespace shardscope::engine {

/// The executor with real reads, kernels and memory; see plan::Walk for what it is asked.
class RunExecutor {
public:
    /// `events` may be null: nothing is traced.
    RunExecutor(
        RunState& run, RowReader& rows, ShardLoader& loader, IoThread& io, const RunClock& clock,
        trace::EventRing* events)
        : m_run(run), m_rows(rows), m_loader(loader), m_io(io), m_clock(clock), m_events(events),
          m_rowThrottle(run.plan.config.emulateRead) {}

    std::uint64_t now() const { return m_clock.now(); }
    void emit(const trace::Event& event) {
        if (m_events)
            m_events->push(event);
    }
    bool goOn() const { return m_run.status.ok() && !m_io.failed() && !stopped(); }
    bool stopped() const {
        return m_run.request.stop && m_run.request.stop->load(std::memory_order_relaxed);
    }

    void load(base::ShardId shard, const plan::Block& block) {
        m_io.issue(shard, m_run.memory.place(shard, block));
    }
    void await(base::ShardId shard) { m_io.await(shard); }
    void evict(base::ShardId shard, const plan::Block& block);
    void readRows(const model::Op& op, const plan::OpContext& context);
    void compute(base::OpId id, const plan::OpContext& context);
    void drain();
    void settled(const plan::OpContext& context);
    void nextTokens(
        const plan::OpContext& context, std::span<std::uint32_t> tokens,
        std::span<std::uint8_t> goOn);
    std::int32_t nextBeams(const plan::OpContext& context, std::int32_t place);
    std::span<const std::uint32_t> tokensOf(std::int32_t place) const {
        return m_run.searches[static_cast<std::size_t>(place)].tokens();
    }

private:
    void fail(const base::Status& status) {
        if (!status && m_run.status.ok())
            m_run.status = status;
    }

    RunState& m_run;
    RowReader& m_rows;
    ShardLoader& m_loader;
    IoThread& m_io;
    const RunClock& m_clock;
    trace::EventRing* m_events;
    Throttle m_rowThrottle;
};

} // namespace shardscope::engine
