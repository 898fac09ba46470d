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
          m_team(teamOf(plan.config.threads)) {
        for (const MeasuredOp& op : board.measured.ops)
            (op.shape.threads == plan.config.threads ? m_seen : m_seenElsewhere).push_back(&op);
        double perToken = 0;
        for (const base::OpId id : plan.graph->pass(model::PassKind::Decode).ops)
            perToken += plan.weightBytes(plan.graph->op(id)).real();
        m_allCached = perToken <= board.machine.cacheBytes.real();
    }

    /// The place of its times among the different ones.
    std::uint32_t make(std::size_t index, std::vector<Op>& different) {
        const model::Op& op = m_plan.graph->ops[index];
        const double weights = m_plan.weightBytes(op).real();
        for (std::size_t i = 0; i < m_made.size(); ++i)
            if (isSame(m_made[i], different[i], op, m_keys[index], weights))
                return static_cast<std::uint32_t>(i);
        Op times;
        times.weightBytes = weights;
        times.lastTokenOnly = op.lastTokenOnly;
        const auto held = static_cast<std::size_t>(plan::heldSource(m_plan));
        times.of[held] = timesOf(op, m_keys[index], weights, WeightSource(held));
        for (std::size_t s = 0; s < plan::kWeightSourceCount; ++s)
            if (s != held)
                times.of[s] = weights > 0 ? timesOf(op, m_keys[index], weights, WeightSource(s))
                                          : times.of[held];
        m_made.push_back({&op, m_keys[index]});
        different.push_back(times);
        return static_cast<std::uint32_t>(different.size() - 1);
    }

private:
    struct Made {
        const model::Op* op;
        KernelKey key;
    };

    static bool
    isSame(const Made& made, const Op& times, const model::Op& op, KernelKey key, double weights) {
        const model::OpCost &a = made.op->cost, &b = op.cost;
        return made.key == key && times.weightBytes == weights && a.flops == b.flops &&
               a.flopsPerPosition == b.flopsPerPosition && a.stateBytes == b.stateBytes &&
               a.stateBytesPerPosition == b.stateBytesPerPosition &&
               times.lastTokenOnly == op.lastTokenOnly;
    }

    /// What so many threads reach together.
    struct Team {
        double speedUp, memory, fixed;
    };
    Team teamOf(std::int32_t threads) const {
        return {
            m_board.computeSpeedUp(threads), m_board.memoryRate(threads), m_board.fixedNs(threads)};
    }

    /// By the rates of the profile. Weights that were just copied are in the caches.
    Line analytic(
        const model::OpCost& cost, KernelKey key, double weights, WeightSource source, bool isOne,
        const Team& team) const {
        const bool inCache = m_allCached || source == WeightSource::Copied;
        const double perFlop =
            kNano / (m_board.kernelRate(forRows(key, isOne), !inCache) * team.speedUp);
        const double perByte = kNano / team.memory;
        return {
            cost.flops * perFlop,
            cost.flopsPerPosition * perFlop,
            inCache ? 0 : weights * perByte,
            cost.stateBytes * perByte,
            cost.stateBytesPerPosition * perByte,
            team.fixed,
            1,
            source == WeightSource::Mapped ? weights * m_touch : 0};
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
        const Line byRates = analytic(op.cost, key, weights, source, rows == 1, m_team);
        OpShape shape{key,    source,        m_plan.config.threads,
                      rows,   op.cost.flops, op.cost.flopsPerPosition,
                      weights};
        if (const MeasuredOp* seen = find(shape))
            return lineOf(*seen);
        for (const WeightSource other :
             {WeightSource::Resident, WeightSource::Pinned, WeightSource::Device}) {
            shape.source = other;
            if (const MeasuredOp* seen = find(shape); seen && other != source) {
                Line line = lineOf(*seen);
                const double there =
                    analytic(op.cost, key, weights, other, rows == 1, m_team).at(rows, 0);
                line.scale = there > 0 ? (byRates.at(rows, 0) - byRates.touchNs) / there : 1;
                line.touchNs = byRates.touchNs;
                return line;
            }
        }
        Line line = byRates;
        line.scale = kernelScale(op.cost, key, weights, rows == 1);
        return line;
    }

    /// How far measured ops of this kernel were from the rates: that which is the most alike, of
    /// this number of threads, else of another.
    double kernelScale(const model::OpCost& cost, KernelKey key, double weights, bool isOne) const {
        for (const auto* seen : {&m_seen, &m_seenElsewhere}) {
            const MeasuredOp* nearest = nullptr;
            double least = 0;
            for (const MeasuredOp* op : *seen) {
                if (op->shape.kernel.kernel != key.kernel || (op->shape.rows == 1) != isOne)
                    continue;
                const double away = unlikeness(op->shape, cost, key, weights);
                if (!nearest || away < least) {
                    nearest = op;
                    least = away;
                }
            }
            if (const double scale = nearest ? scaleOf(*nearest, cost, key, isOne) : 0; scale > 0)
                return scale;
        }
        return 1;
    }

    static double elementBytes(model::DType type) {
        constexpr std::int64_t kRow = 1024; // whole blocks of any type
        return model::rowBytes(type, kRow).real() / kRow;
    }

    /// Work by its order of magnitude; growth with the position and another type count as much.
    static double
    unlikeness(const OpShape& shape, const model::OpCost& cost, KernelKey key, double weights) {
        const auto apart = [](double a, double b) {
            return std::abs(std::log2(a + 1) - std::log2(b + 1));
        };
        return apart(shape.flops, cost.flops) + apart(shape.weightBytes, weights) +
               apart(shape.flopsPerPosition, cost.flopsPerPosition) +
               (shape.kernel.dtype == key.dtype ? 0 : 1);
    }

    /// Measured time of an op against its rates, in the midst of a text; 0 where either is none.
    /// Shapes tell nothing of caches that are read: those grow with the work, as those of `like`
    /// do, an op of the same kernel, and with the size of their elements.
    double
    scaleOf(const MeasuredOp& seen, const model::OpCost& like, KernelKey key, bool isOne) const {
        constexpr double kPositions = 32;
        const OpShape& s = seen.shape;
        const bool readsCache = key.kernel == KernelClass::DecodeAttention;
        const double size = readsCache ? elementBytes(s.kernel.dtype) / elementBytes(key.dtype) : 1;
        model::OpCost cost;
        cost.flops = s.flops;
        cost.flopsPerPosition = s.flopsPerPosition;
        if (like.flops > 0)
            cost.stateBytes = like.stateBytes * size * s.flops / like.flops;
        if (like.flopsPerPosition > 0)
            cost.stateBytesPerPosition =
                like.stateBytesPerPosition * size * s.flopsPerPosition / like.flopsPerPosition;
        const Line rates =
            analytic(cost, s.kernel, s.weightBytes, s.source, isOne, teamOf(s.threads));
        const double byRates = rates.at(s.rows, kPositions * s.rows) - rates.touchNs;
        const double took = seen.ns + seen.nsPerPosition * kPositions * s.rows - rates.touchNs;
        return byRates > 0 ? std::max(0.0, took) / byRates : 0;
    }

    Times timesOf(const model::Op& op, KernelKey key, double weights, WeightSource source) const {
        Times t;
        t.one = lineFor(op, key, weights, source, 1);
        t.many = analytic(op.cost, key, weights, source, false, m_team);
        const std::int32_t prompt = op.lastTokenOnly ? 1 : m_plan.graph->promptTokens;
        if (prompt > 1 && !m_seen.empty()) {
            t.few = lineFor(op, key, weights, source, prompt);
            t.fewRows = prompt;
            t.many.scale = kernelScale(op.cost, key, weights, false);
        }
        return t;
    }

    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    double m_touch;
    std::vector<KernelKey> m_keys;
    Team m_team;
    bool m_allCached = false;
    std::vector<const MeasuredOp*> m_seen;          ///< with as many threads
    std::vector<const MeasuredOp*> m_seenElsewhere; ///< with another number
    std::vector<Made> m_made;
};

OpTimes::OpTimes(const plan::Plan& plan, const plan::BoardProfile& board, double touchNsPerByte) {
    Maker maker(plan, board, touchNsPerByte);
    m_ofOp.reserve(plan.graph->ops.size());
    for (std::size_t i = 0; i < plan.graph->ops.size(); ++i)
        m_ofOp.push_back(maker.make(i, m_different));
}

} // namespace shardscope::sim
