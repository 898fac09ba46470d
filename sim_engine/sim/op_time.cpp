// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/sim/op_time.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace shardscope::sim {

using plan::KernelClass;
using plan::KernelKey;
using plan::MeasuredOp;
using plan::OpShape;
using plan::WeightSource;

namespace {

constexpr double kNano = 1e9;

KernelKey forRows(KernelKey key, bool isOne) {
    if (key.kernel == KernelClass::MatVec && !isOne)
        key.kernel = KernelClass::RowsMatVec;
    return key;
}

} // namespace

/// Makes the times of ops; equal shapes, of which a model has many, are made once.
class OpTimes::Maker {
public:
    Maker(const plan::Plan& plan, const plan::BoardProfile& board, double touchNsPerByte)
        : m_plan(plan), m_board(board), m_touch(touchNsPerByte), m_keys(plan::kernelsOf(plan)),
          m_speedUp(board.computeSpeedUp(plan.config.threads)),
          m_memory(board.memoryRate(plan.config.threads)),
          m_fixed(board.fixedNs(plan.config.threads)) {
        for (const MeasuredOp& op : board.measured.ops)
            if (op.shape.threads == plan.config.threads)
                m_seen.push_back(&op);
        double perToken = 0;
        for (const base::OpId id : plan.graph->pass(model::PassKind::Decode).ops)
            perToken += weightBytesOf(plan.graph->op(id));
        m_allCached = perToken <= board.machine.cacheBytes.real();
    }

    /// The place of its times among the different ones.
    std::uint32_t make(std::size_t index, std::vector<Op>& different) {
        const model::Op& op = m_plan.graph->ops[index];
        const double weights = weightBytesOf(op);
        for (std::size_t i = 0; i < m_made.size(); ++i)
            if (isSame(m_made[i], different[i], op, m_keys[index], weights))
                return static_cast<std::uint32_t>(i);
        Op times;
        times.weightBytes = weights;
        times.lastTokenOnly = op.lastTokenOnly;
        const std::size_t sources = weights > 0 ? plan::kWeightSourceCount : 1;
        for (std::size_t s = 0; s < plan::kWeightSourceCount; ++s)
            times.of[s] =
                s < sources ? timesOf(op, m_keys[index], weights, WeightSource(s)) : times.of[0];
        m_made.push_back({&op, m_keys[index]});
        different.push_back(times);
        return static_cast<std::uint32_t>(different.size() - 1);
    }

private:
    struct Made {
        const model::Op* op;
        KernelKey key;
    };

    double weightBytesOf(const model::Op& op) const {
        double bytes = 0;
        for (const model::WeightUse& use : op.weights)
            bytes += (m_plan.card->tensor(use.tensor).bytesPerRow() * use.rowCount).real();
        return bytes;
    }
    static bool
    isSame(const Made& made, const Op& times, const model::Op& op, KernelKey key, double weights) {
        const model::OpCost &a = made.op->cost, &b = op.cost;
        return made.key == key && times.weightBytes == weights && a.flops == b.flops &&
               a.flopsPerPosition == b.flopsPerPosition && a.stateBytes == b.stateBytes &&
               a.stateBytesPerPosition == b.stateBytesPerPosition &&
               times.lastTokenOnly == op.lastTokenOnly;
    }

    /// By the rates of the profile. Weights that were just copied are in the caches.
    Line analytic(
        const model::OpCost& cost, KernelKey key, double weights, WeightSource source,
        bool isOne) const {
        const bool inCache = m_allCached || source == WeightSource::Copied;
        const double perFlop =
            kNano / (m_board.kernelRate(forRows(key, isOne), !inCache) * m_speedUp);
        const double perByte = kNano / m_memory;
        const double touch = source == WeightSource::Mapped ? weights * m_touch : 0;
        return {
            cost.flops * perFlop,
            cost.flopsPerPosition * perFlop,
            inCache ? 0 : weights * perByte,
            cost.stateBytes * perByte,
            cost.stateBytesPerPosition * perByte,
            m_fixed + touch,
            1};
    }

    const MeasuredOp* find(const OpShape& shape) const {
        for (const MeasuredOp* op : m_seen)
            if (op->shape == shape)
                return op;
        return nullptr;
    }
    static Line lineOf(const MeasuredOp& op) {
        Line line;
        line.flopNsPerPosition = op.nsPerPosition;
        line.fixedNs = op.ns;
        return line;
    }

    /// As runs have shown: this shape, or the same with weights from elsewhere, corrected by what
    /// the rates say of the difference; else the rates, scaled by the median of the kernel.
    Line lineFor(
        const model::Op& op, KernelKey key, double weights, WeightSource source,
        std::int32_t rows) const {
        const Line byRates = analytic(op.cost, key, weights, source, rows == 1);
        if (m_seen.empty())
            return byRates;
        OpShape shape{key,    source,        m_plan.config.threads,
                      rows,   op.cost.flops, op.cost.flopsPerPosition,
                      weights};
        if (const MeasuredOp* seen = find(shape))
            return lineOf(*seen);
        for (const WeightSource other : {WeightSource::Resident, WeightSource::Device}) {
            shape.source = other;
            if (const MeasuredOp* seen = find(shape); seen && other != source) {
                Line line = lineOf(*seen);
                const double there = analytic(op.cost, key, weights, other, rows == 1).at(rows, 0);
                line.scale = there > 0 ? byRates.at(rows, 0) / there : 1;
                return line;
            }
        }
        Line line = byRates;
        line.scale = kernelScale(key, rows == 1);
        return line;
    }

    /// How far measured ops of this kernel were from the rates.
    double kernelScale(KernelKey key, bool isOne) const {
        std::vector<double> ratios;
        for (const bool sameType : {true, false}) {
            for (const MeasuredOp* seen : m_seen) {
                const OpShape& s = seen->shape;
                if (s.kernel.kernel != key.kernel || (s.rows == 1) != isOne || s.flops <= 0 ||
                    (sameType && s.kernel.dtype != key.dtype))
                    continue;
                model::OpCost cost;
                cost.flops = s.flops;
                const double rates =
                    analytic(cost, s.kernel, s.weightBytes, s.source, isOne).at(s.rows, 0);
                if (rates > 0 && seen->ns > 0)
                    ratios.push_back(seen->ns / rates);
            }
            if (!ratios.empty())
                break;
        }
        if (ratios.empty())
            return 1;
        const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
        std::nth_element(ratios.begin(), middle, ratios.end());
        return *middle;
    }

    Times timesOf(const model::Op& op, KernelKey key, double weights, WeightSource source) const {
        Times t;
        t.one = lineFor(op, key, weights, source, 1);
        t.many = analytic(op.cost, key, weights, source, false);
        const std::int32_t prompt = op.lastTokenOnly ? 1 : m_plan.graph->promptTokens;
        if (prompt > 1 && !m_seen.empty()) {
            t.few = lineFor(op, key, weights, source, prompt);
            t.fewRows = prompt;
            t.many.scale = kernelScale(key, false);
        }
        return t;
    }

    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    double m_touch;
    std::vector<KernelKey> m_keys;
    double m_speedUp, m_memory, m_fixed;
    bool m_allCached = false;
    std::vector<const MeasuredOp*> m_seen; ///< with as many threads
    std::vector<Made> m_made;
};

OpTimes::OpTimes(const plan::Plan& plan, const plan::BoardProfile& board, double touchNsPerByte) {
    Maker maker(plan, board, touchNsPerByte);
    m_ofOp.reserve(plan.graph->ops.size());
    for (std::size_t i = 0; i < plan.graph->ops.size(); ++i)
        m_ofOp.push_back(maker.make(i, m_different));
}

} // namespace shardscope::sim
