// SPDX-License-Identifier: GPL-3.0-or-later
// Traces written by hand, for tests of what is made from them.
#pragma once

#include <cstdint>
#include <string>

#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::tests {

/// Shard 0 is pinned, shards 1 and 2 are streamed; buffer 0 holds activations, buffer 1 cross KV;
/// op 0 is a matmul of shard 1, op 1 a vector op without weights.
class TraceMaker {
public:
    TraceMaker() {
        using base::Bytes;
        m_trace.legend.peak = Bytes(1000);
        m_trace.legend.budget = Bytes(900);
        m_trace.legend.shards = {
            {"pinned", Bytes(100), Bytes(100), true},
            {"layer 1", Bytes(200), Bytes(200), false},
            {"layer 2", Bytes(300), Bytes(300), false}};
        m_trace.legend.buffers = {
            {"hidden", model::Region::Activations, Bytes(50)},
            {"cross", model::Region::CrossKv, Bytes(70)}};
        m_trace.legend.ops = {
            {"mlp", model::OpKind::MatMul, 1, 1}, {"norm", model::OpKind::Vector, 1}};
    }

    TraceMaker& load(
        std::uint64_t t, std::uint32_t shard, std::uint64_t offset, std::uint64_t bytes,
        plan::Reason why = plan::Reason::Streamed) {
        return add(
            trace::EventKind::Load, t, shard, offset, bytes, static_cast<std::uint16_t>(why));
    }
    TraceMaker& evict(
        std::uint64_t t, std::uint32_t shard, std::uint64_t offset, std::uint64_t bytes,
        plan::Reason why = plan::Reason::SlotNeeded) {
        return add(
            trace::EventKind::Evict, t, shard, offset, bytes, static_cast<std::uint16_t>(why));
    }
    TraceMaker&
    alloc(std::uint64_t t, std::uint32_t buffer, std::uint64_t offset, std::uint64_t bytes) {
        return add(trace::EventKind::Alloc, t, buffer, offset, bytes, regionOf(buffer));
    }
    TraceMaker&
    free(std::uint64_t t, std::uint32_t buffer, std::uint64_t offset, std::uint64_t bytes) {
        return add(trace::EventKind::Free, t, buffer, offset, bytes, regionOf(buffer));
    }
    TraceMaker& compute(std::uint64_t t, std::uint32_t op, std::uint64_t duration) {
        return add(
            trace::EventKind::Compute, t, op, duration, 1,
            static_cast<std::uint16_t>(model::PassKind::Decode));
    }
    TraceMaker& read(
        std::uint64_t t, std::uint32_t shard, std::uint64_t duration, std::uint64_t bytes,
        trace::Lane lane = trace::Lane::Io) {
        add(trace::EventKind::Read, t, shard, duration, bytes);
        m_trace.events.back().lane = lane;
        return *this;
    }
    TraceMaker& stall(std::uint64_t t, std::uint32_t shard, std::uint64_t duration) {
        return add(trace::EventKind::Stall, t, shard, duration);
    }
    TraceMaker& rss(std::uint64_t t, std::uint64_t bytes) {
        return add(
            trace::EventKind::Counter, t, static_cast<std::uint32_t>(trace::CounterKind::Rss),
            bytes);
    }
    TraceMaker& phase(std::uint64_t t, model::PassKind pass) {
        return add(trace::EventKind::Phase, t, static_cast<std::uint32_t>(pass));
    }
    TraceMaker&
    token(std::uint64_t t, std::uint32_t token, std::uint64_t number, std::uint64_t window = 0) {
        return add(trace::EventKind::Token, t, token, number, window);
    }
    TraceMaker&
    add(trace::EventKind kind, std::uint64_t t, std::uint32_t id, std::uint64_t a = 0,
        std::uint64_t b = 0, std::uint16_t aux = 0) {
        trace::Event e;
        e.kind = kind;
        e.t_ns = t;
        e.id = id;
        e.a = a;
        e.b = b;
        e.aux = aux;
        m_trace.events.push_back(e);
        return *this;
    }

    trace::Trace& trace() { return m_trace; }
    const trace::Legend& legend() const { return m_trace.legend; }

private:
    std::uint16_t regionOf(std::uint32_t buffer) const {
        return static_cast<std::uint16_t>(m_trace.legend.buffers[buffer].region);
    }
    trace::Trace m_trace;
};

} // namespace shardscope::tests
