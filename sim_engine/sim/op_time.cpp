// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/sim/op_time.h"

#include <algorithm>

namespace shardscope::sim {

OpTimes::OpTimes(const plan::Plan& plan, const plan::BoardProfile& board)
    : m_fixedNs(board.opFixedNs) {
    const double threads = plan.config.threads;
    const double others = std::min<double>(threads, board.cores) - 1;
    const double speedUp = 1 + others * board.threadEfficiency;
    const double allOthers = std::max(1, board.fastCores - 1);
    const double memory = board.memoryBytesPerSecond *
                          (1 + (board.memoryScale - 1) * std::min(1.0, others / allOthers));
    for (const model::Op& op : plan.graph->ops) {
        const bool narrow = op.dtype != model::DType::F32;
        const double rate =
            board.opsPerSecond[static_cast<std::size_t>(op.kind)][narrow ? 1 : 0] * speedUp;
        double weights = 0;
        for (const model::WeightUse& use : op.weights)
            weights += (plan.card->tensor(use.tensor).bytesPerRow() * use.rowCount).real();
        const double perByte = 1e9 / memory, perFlop = 1e9 / rate;
        m_terms.push_back(
            {op.cost.flops * perFlop, op.cost.flopsPerPosition * perFlop, weights * perByte,
             op.cost.stateBytes * perByte, op.cost.stateBytesPerPosition * perByte,
             op.lastTokenOnly});
    }
}

double OpTimes::nanos(base::OpId op, const plan::OpContext& c) const {
    const Terms& t = m_terms[op.index()];
    const bool decodes = c.pass >= model::PassKind::Prefill;
    const double tokens = decodes && !t.lastTokenOnly ? c.tokens : 1; // of a sequence
    const double sequences = decodes ? c.sequences() : 1;
    // Positions that the tokens look back on, added up: p+1, p+2, ... for tokens at p, p+1, ...
    const double positions = sequences * (tokens * c.position + tokens * (tokens + 1) / 2);
    const double rows = sequences * tokens;
    const double flops = rows * t.flopNs + positions * t.flopNsPerPosition;
    const double bytes = t.weightNs + rows * t.stateNs + positions * t.stateNsPerPosition;
    return std::max(flops, bytes) + m_fixedNs;
}

} // namespace shardscope::sim
