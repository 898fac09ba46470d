// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include "device_agent/engine/kernels/matvec.h"
#include "device_agent/engine/kernels/shared_attention.h"
#include "device_agent/engine/whisper/run_state.h"

namespace shardscope::engine {
namespace {

using base::OpId;
using kernels::Epilogue;
using kernels::Matvec;
using model::WhisperOp;
using plan::OpContext;
using B = model::WhisperBuffer;

std::size_t rowsOf(const OpContext& c) {
    return static_cast<std::size_t>(c.rows());
}

/// Calls fn(row, sequence, token) for each row of a decoding op.
template <typename Fn>
void forEachRow(const OpContext& c, Fn fn) {
    std::size_t row = 0;
    for (const std::int32_t sequence : c.active)
        for (std::int32_t token = 0; token < c.tokens; ++token)
            fn(row++, sequence, token);
}

float headScale(const RunState& run) {
    return 1.0f / std::sqrt(static_cast<float>(run.shape.headDim()));
}

/// Token row plus position row, for each row of the pass.
void embed(RunState& run, OpId id, const OpContext& c) {
    const model::Op& op = run.plan.graph->op(id);
    const model::TensorInfo& table = run.plan.card->tensor(op.rowReads[0]);
    const std::byte* fetched = run.memory.bytes(model::whisperBuffer(B::Rows)).data();
    const bool wasPrefill = c.step == 0;
    const auto row = [&](base::TensorId tensor, std::int64_t index) {
        if (!wasPrefill && run.plan.rowsResident[tensor.index()])
            return run.memory.residentRow(tensor, index);
        const std::byte* at = fetched;
        fetched += run.plan.card->tensor(tensor).bytesPerRow().value;
        return at;
    };
    forEachRow(c, [&](std::size_t i, std::int32_t, std::int32_t token) {
        float* x = run.floats(B::DecX) + i * run.width;
        kernels::unpack(weightType(table.dtype), row(op.rowReads[0], run.inputs[i]), run.width, x);
        kernels::addTo(x, row(op.rowReads[1], c.position + token), run.width);
    });
}

/// Layer norm of all tokens by the first two weights of the op.
void norm(RunState& run, OpId id, const OpContext& c) {
    kernels::layerNorm(
        run.pool, run.floats(B::DecX), run.width, rowsOf(c), run.width, run.memory.weight(id, 0),
        run.memory.weight(id, 1), run.floats(B::DecNorm), run.width);
}

void project(
    RunState& run, OpId id, std::size_t at, B in, B out, const OpContext& c, bool hasBias,
    bool gelu, bool residual) {
    Matvec m;
    m.weights = run.memory.matrix(id, at);
    m.x = run.floats(in);
    m.rows = rowsOf(c);
    m.ldx = m.weights.cols;
    m.y = run.floats(out);
    m.ldy = m.weights.rows;
    const std::byte* bias = hasBias ? run.memory.weight(id, at + 1) : nullptr;
    m.epilogue =
        residual ? kernels::residualEpilogue(bias, m.y, m.ldy) : Epilogue{bias, gelu, nullptr, 0};
    kernels::matvec(run.pool, m);
}

/// Keys or values of the new tokens into the self cache.
void appendRows(RunState& run, OpId id, const OpContext& c, bool keys) {
    project(run, id, 0, B::DecNorm, B::DecRow, c, !keys, false, false);
    const auto store = keys ? kernels::storeKeys : kernels::storeValues;
    const auto tokens = static_cast<std::size_t>(c.tokens);
    const float* rows = run.floats(B::DecRow);
    for (const std::int32_t sequence : c.active) {
        const auto cache = cacheOf(run, run.plan.graph->op(id).writes[0], false, sequence);
        store(run.pool, cache, static_cast<std::size_t>(c.position), tokens, rows, run.width);
        rows += tokens * run.width;
    }
}

std::span<std::byte> scratch(const RunState& run) {
    return run.memory.bytes(model::whisperBuffer(B::DecScratch));
}

void selfAttention(RunState& run, OpId id, const OpContext& c) {
    const base::BufferId buffer = run.plan.graph->op(id).reads[1];
    forEachRow(c, [&](std::size_t row, std::int32_t sequence, std::int32_t token) {
        float* q = run.floats(B::DecQ) + row * run.width;
        kernels::decodeAttention(
            run.pool, cacheOf(run, buffer, false, sequence),
            static_cast<std::size_t>(c.position + token) + 1, q, headScale(run), q, scratch(run));
    });
}

void crossAttention(RunState& run, OpId id, const OpContext& c) {
    const base::BufferId buffer = run.plan.graph->op(id).reads[1];
    forEachRow(c, [&](std::size_t row, std::int32_t sequence, std::int32_t) {
        float* q = run.floats(B::DecQ) + row * run.width;
        kernels::decodeAttention(
            run.pool, cacheOf(run, buffer, true, sequence), run.crossPositions, q, headScale(run),
            q, scratch(run));
    });
}

/// Cross-attention to the encoder output itself, with the projections absorbed.
void sharedCrossAttention(RunState& run, OpId id, const OpContext& c) {
    kernels::SharedAttention a;
    a.positions = run.crossPositions;
    a.heads = static_cast<std::size_t>(run.shape.textHeads);
    a.keyWeights = run.memory.matrix(id, 0);
    a.valueWeights = run.memory.matrix(id, 1);
    a.valueBias = run.memory.weight(id, 2);
    a.scale = headScale(run);
    forEachRow(c, [&](std::size_t row, std::int32_t sequence, std::int32_t) {
        float* q = run.floats(B::DecQ) + row * run.width;
        a.encoded = run.floats(B::EncOutput) +
                    static_cast<std::size_t>(sequence) * run.positions * run.width;
        kernels::sharedAttention(run.pool, a, q, q, scratch(run));
    });
}

/// Only the logits of the last token of each sequence are wanted.
void finalNorm(RunState& run, OpId id, const OpContext& c) {
    const auto tokens = static_cast<std::size_t>(c.tokens);
    const float* last = run.floats(B::DecX) + (tokens - 1) * run.width;
    kernels::layerNorm(
        run.pool, last, tokens * run.width, c.active.size(), run.width, run.memory.weight(id, 0),
        run.memory.weight(id, 1), run.floats(B::DecNorm), run.width);
    for (const std::int32_t sequence : c.active) {
        TokenPick& pick = run.picks[static_cast<std::size_t>(sequence)];
        if (c.step == 0)
            pick.beginWindow(run.framesFrom(c.window + sequence));
        pick.beginStep(c.step);
    }
}

/// A range of the vocabulary: its logits go to whoever chooses the token of each sequence.
void logits(RunState& run, OpId id, const OpContext& c) {
    Matvec m;
    m.x = run.floats(B::DecNorm);
    m.rows = c.active.size();
    m.ldx = run.width;
    m.weights = run.memory.matrix(id, 0);
    m.y = run.floats(B::Logits);
    m.ldy = m.weights.rows;
    kernels::matvec(run.pool, m);
    const std::size_t count = m.weights.rows;
    const auto first = static_cast<std::size_t>(run.plan.graph->op(id).weights[0].firstRow);
    if (c.settles)
        return run.vote.take(m.y, count, static_cast<tokenizer::Token>(first));
    if (run.status.ok())
        run.status = run.dumpLogits.write(m.y, count * m.rows);
    for (std::size_t i = 0; i < m.rows; ++i)
        run.picks[static_cast<std::size_t>(c.active[i])].take(m.y + i * count, count, first);
}

} // namespace

void computeDecodeOp(RunState& run, OpId id, const OpContext& c) {
    switch (static_cast<WhisperOp>(run.plan.graph->op(id).code)) {
    case WhisperOp::Embed:
        return embed(run, id, c);
    case WhisperOp::SelfQuery:
    case WhisperOp::CrossQuery:
        norm(run, id, c);
        return project(run, id, 2, B::DecNorm, B::DecQ, c, true, false, false);
    case WhisperOp::SelfKey:
        return appendRows(run, id, c, true);
    case WhisperOp::SelfValue:
        return appendRows(run, id, c, false);
    case WhisperOp::SelfAttention:
        return selfAttention(run, id, c);
    case WhisperOp::CrossAttention:
        return run.plan.config.crossKv == model::KvType::Shared ? sharedCrossAttention(run, id, c)
                                                                : crossAttention(run, id, c);
    case WhisperOp::SelfOut:
    case WhisperOp::CrossOut:
        return project(run, id, 0, B::DecQ, B::DecX, c, true, false, true);
    case WhisperOp::Fc1:
        norm(run, id, c);
        return project(run, id, 2, B::DecNorm, B::DecHidden, c, true, true, false);
    case WhisperOp::Fc2:
        return project(run, id, 0, B::DecHidden, B::DecX, c, true, false, true);
    case WhisperOp::FinalNorm:
        return finalNorm(run, id, c);
    case WhisperOp::Logits:
        return logits(run, id, c);
    default:
        std::abort(); // a bug: an op of another pass
    }
}

} // namespace shardscope::engine
