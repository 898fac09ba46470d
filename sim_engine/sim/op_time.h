// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/kernel_class.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/walk.h"

namespace shardscope::sim {

/// How long the ops of one plan take on one board, with no reads under way: as runs have shown for
/// this very shape, else max(flops / rate, bytes / memory bandwidth) and a fixed cost, scaled by
/// how far runs with the same kernel were from that.
class OpTimes {
public:
    /// `touchNsPerByte`: what touching a page of a lazy map for the first time costs.
    OpTimes(const plan::Plan& plan, const plan::BoardProfile& board, double touchNsPerByte);

    /// Its weights come from `source`.
    double nanos(base::OpId op, const plan::OpContext& context, plan::WeightSource source) const {
        const Op& known = of(op);
        const Times& t = known.of[static_cast<std::size_t>(source)];
        const bool decodes = context.pass >= model::PassKind::Prefill;
        const double tokens = decodes && !known.lastTokenOnly ? context.tokens : 1;
        const double sequences = decodes ? context.sequences() : 1;
        const double rows = sequences * tokens;
        // Positions that the tokens look back on, added up: p+1, p+2, ... for tokens at p, p+1, ...
        const double positions =
            sequences * (tokens * context.position + tokens * (tokens + 1) / 2);
        if (rows == 1)
            return t.one.at(1, positions);
        return (rows == t.fewRows ? t.few : t.many).at(rows, positions);
    }
    /// Bytes of weights that the op reads.
    double weightBytes(base::OpId op) const { return of(op).weightBytes; }

private:
    /// max(compute, memory) + fixed, both linear in rows and positions.
    struct Line {
        double flopNs = 0, flopNsPerPosition = 0;
        double weightNs = 0, stateNs = 0, stateNsPerPosition = 0;
        double fixedNs = 0, scale = 1;
        double touchNs = 0; ///< of pages that are mapped lazily

        double at(double rows, double positions) const {
            const double flops = rows * flopNs + positions * flopNsPerPosition;
            const double bytes = weightNs + rows * stateNs + positions * stateNsPerPosition;
            return ((flops > bytes ? flops : bytes) + fixedNs) * scale + touchNs;
        }
    };
    struct Times {
        Line one, few, many;
        double fewRows = 0; ///< rows of prefill, where runs have shown them
    };
    struct Op {
        std::array<Times, plan::kWeightSourceCount> of;
        double weightBytes = 0;
        bool lastTokenOnly = false;
    };
    class Maker;
    const Op& of(base::OpId op) const { return m_different[m_ofOp[op.index()]]; }

    std::vector<Op> m_different;
    std::vector<std::uint32_t> m_ofOp; ///< by OpId: a model repeats its ops in each layer
};

} // namespace shardscope::sim
