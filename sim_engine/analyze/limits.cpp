// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/limits.h"

#include <algorithm>

#include "sim_engine/plan/kernel_class.h"

namespace shardscope::analyze {
namespace {

using model::PassKind;
using trace::Event;
using trace::EventKind;

double ms(std::uint64_t ns) {
    return static_cast<double>(ns) * 1e-6;
}

/// Adds up the work of a run, event by event.
class Worker {
public:
    Worker(const plan::Plan& plan, const plan::BoardProfile& board)
        : m_plan(plan), m_board(board), m_kernels(plan::kernelsOf(plan)),
          m_bytesPerMs(board.memoryRate(plan.config.threads) * 1e-3),
          m_speedUp(board.computeSpeedUp(plan.config.threads)) {
        m_readRate = board.readBytesPerSecond;
        if (plan.config.emulateRead)
            m_readRate = std::min(m_readRate, plan.config.emulateRead->real());
        for (const model::Op& op : plan.graph->ops)
            m_weights.push_back(plan.weightBytes(op).real());
    }

    void add(const Event& e) {
        m_end = std::max(m_end, static_cast<std::uint64_t>(e.end().value));
        switch (e.kind) {
        case EventKind::Phase:
            leave(e.t_ns);
            m_pass = static_cast<std::int32_t>(e.id);
            m_rows = static_cast<double>(e.a);
            m_begin = e.t_ns;
            break;
        case EventKind::Window:
        case EventKind::RunEnd:
            leave(e.t_ns);
            break;
        case EventKind::Compute:
            compute(e);
            break;
        case EventKind::Stall:
            here().stalled += ms(e.a);
            break;
        case EventKind::Read:
            here().storage += static_cast<double>(e.b) / m_readRate * 1e3;
            if (e.id == trace::kRowRead)
                here().stalled += ms(e.a);
            break;
        case EventKind::Token:
            m_result.decodeSteps += e.a > 0 && !m_searches ? 1 : 0;
            break;
        case EventKind::Step:
            m_searches = true; // its tokens are no steps
            m_result.decodeSteps += e.a > 0 ? 1 : 0;
            break;
        default:
            break;
        }
    }

    RunLimits result() {
        leave(m_end);
        for (const Limits& pass : m_result.passes) {
            m_result.run.stalled += pass.stalled;
            m_result.run.storage += pass.storage;
            m_result.run.memory += pass.memory;
            m_result.run.compute += pass.compute;
            m_result.run.roof += pass.roof;
        }
        m_result.run.took = ms(m_end);
        return m_result;
    }

private:
    /// What happens before the first pass belongs to it.
    Limits& here() { return m_result.passes[static_cast<std::size_t>(std::max(0, m_pass))]; }

    void leave(std::uint64_t at) {
        if (m_begin && m_pass >= 0)
            here().took += ms(at - std::min(at, *m_begin));
        m_begin.reset();
    }

    void compute(const Event& e) {
        const model::Op& op = m_plan.graph->ops[e.id];
        const bool decodes = m_pass >= static_cast<std::int32_t>(PassKind::Prefill);
        const bool step = m_pass == static_cast<std::int32_t>(PassKind::Decode);
        const double prompt = m_plan.graph->promptTokens;
        // Tokens of a sequence that the op works on, and sequences: in prefill the whole prompt.
        const double length = !decodes || step ? 1 : std::min(m_rows, prompt);
        const double sequences = decodes ? m_rows / length : 1;
        const double each = op.lastTokenOnly ? 1 : length;
        const double tokens = sequences * each;
        // A token looks back on the positions up to its own: p+1, p+2, ... of them.
        const double position = step ? prompt + static_cast<double>(e.b) - 1 : 0;
        const double positions = sequences * (each * position + each * (each + 1) / 2);
        const double flops = tokens * op.cost.flops + positions * op.cost.flopsPerPosition;
        const double bytes = m_weights[e.id] + tokens * op.cost.stateBytes +
                             positions * op.cost.stateBytesPerPosition;
        const double computeMs = flops / opsPerMs(e.id, tokens);
        const double memoryMs = bytes / m_bytesPerMs;
        here().compute += computeMs;
        here().memory += memoryMs;
        here().roof += std::max(computeMs, memoryMs);
    }

    /// On data that the caches hold: what the op reads from memory is counted by itself.
    double opsPerMs(std::uint32_t op, double rows) const {
        plan::KernelKey key = m_kernels[op];
        if (key.kernel == plan::KernelClass::MatVec && rows > 1)
            key.kernel = plan::KernelClass::RowsMatVec;
        return m_board.kernelRate(key, false) * m_speedUp * 1e-3;
    }

    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    std::vector<plan::KernelKey> m_kernels; ///< by OpId
    double m_bytesPerMs, m_speedUp;
    double m_readRate = 0;
    std::vector<double> m_weights; ///< bytes that an op reads, by OpId
    std::int32_t m_pass = -1;
    double m_rows = 1;
    bool m_searches = false;
    std::optional<std::uint64_t> m_begin; ///< of the open pass
    std::uint64_t m_end = 0;
    RunLimits m_result;
};

} // namespace

std::string_view boundText(Bound bound) {
    switch (bound) {
    case Bound::Storage:
        return "I/O bound";
    case Bound::Memory:
        return "memory bound";
    case Bound::Compute:
        return "compute bound";
    }
    return {};
}

Bound Limits::bound() const {
    if (storage > roof)
        return Bound::Storage;
    return memory > compute ? Bound::Memory : Bound::Compute;
}

base::Result<RunLimits>
limitsOf(const trace::Trace& trace, const plan::Plan& plan, const plan::BoardProfile& board) {
    if (trace.legend.planHash != plan.hashText())
        return base::Error{
            base::ErrorCode::BadInput, "the trace was made by another plan", trace.legend.planHash,
            "plan with the settings, the model and the board of the run"};
    Worker worker(plan, board);
    for (const Event& e : trace.events)
        if (e.kind != EventKind::Compute || e.id < plan.graph->ops.size())
            worker.add(e);
    return worker.result();
}

} // namespace shardscope::analyze
