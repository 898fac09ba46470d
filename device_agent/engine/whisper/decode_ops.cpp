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

std::size_t tokensOf(const OpContext& c) {
    return static_cast<std::size_t>(c.tokens);
}

float headScale(const RunState& run) {
    return 1.0f / std::sqrt(static_cast<float>(run.shape.headDim()));
}

/// Token row plus position row, for each token of the pass.
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
    for (std::size_t i = 0; i < tokensOf(c); ++i) {
        float* x = run.floats(B::DecX) + i * run.width;
        kernels::unpack(weightType(table.dtype), row(op.rowReads[0], run.inputs[i]), run.width, x);
        kernels::addTo(
            x, row(op.rowReads[1], c.position + static_cast<std::int64_t>(i)), run.width);
    }
}

/// Layer norm of all tokens by the first two weights of the op.
void norm(RunState& run, OpId id, const OpContext& c) {
    kernels::layerNorm(
        run.pool, run.floats(B::DecX), run.width, tokensOf(c), run.width, run.memory.weight(id, 0),
        run.memory.weight(id, 1), run.floats(B::DecNorm), run.width);
}

void project(
    RunState& run, OpId id, std::size_t at, B in, B out, const OpContext& c, bool hasBias,
    bool gelu, bool residual) {
    Matvec m;
    m.weights = run.memory.matrix(id, at);
    m.x = run.floats(in);
    m.rows = tokensOf(c);
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
    const auto cache = cacheOf(run, run.plan.graph->op(id).writes[0], false);
    const auto store = keys ? kernels::storeKeys : kernels::storeValues;
    store(
        run.pool, cache, static_cast<std::size_t>(c.position), tokensOf(c), run.floats(B::DecRow),
        run.width);
}

std::span<std::byte> scratch(const RunState& run) {
    return run.memory.bytes(model::whisperBuffer(B::DecScratch));
}

void selfAttention(RunState& run, OpId id, const OpContext& c) {
    const auto cache = cacheOf(run, run.plan.graph->op(id).reads[1], false);
    for (std::size_t i = 0; i < tokensOf(c); ++i) {
        float* q = run.floats(B::DecQ) + i * run.width;
        kernels::decodeAttention(
            run.pool, cache, static_cast<std::size_t>(c.position) + i + 1, q, headScale(run), q,
            scratch(run));
    }
}

void crossAttention(RunState& run, OpId id, const OpContext& c) {
    const base::BufferId buffer = run.plan.graph->op(id).reads[1];
    const bool shared = run.plan.config.crossKv == model::KvType::Shared;
    kernels::SharedAttention absorbed;
    if (shared) {
        absorbed.encoded = run.floats(B::EncOutput);
        absorbed.positions = run.crossPositions;
        absorbed.heads = static_cast<std::size_t>(run.shape.textHeads);
        absorbed.keyWeights = run.memory.matrix(id, 0);
        absorbed.valueWeights = run.memory.matrix(id, 1);
        absorbed.valueBias = run.memory.weight(id, 2);
        absorbed.scale = headScale(run);
    }
    for (std::size_t i = 0; i < tokensOf(c); ++i) {
        float* q = run.floats(B::DecQ) + i * run.width;
        if (shared)
            kernels::sharedAttention(run.pool, absorbed, q, q, scratch(run));
        else
            kernels::decodeAttention(
                run.pool, cacheOf(run, buffer, true), run.crossPositions, q, headScale(run), q,
                scratch(run));
    }
}

/// Only the last token's logits are wanted.
void finalNorm(RunState& run, OpId id, const OpContext& c) {
    const float* last = run.floats(B::DecX) + (tokensOf(c) - 1) * run.width;
    kernels::layerNorm(
        run.pool, last, run.width, 1, run.width, run.memory.weight(id, 0), run.memory.weight(id, 1),
        run.floats(B::DecNorm), run.width);
    run.best = {};
}

/// A range of the vocabulary: its logits, and the best token so far.
void logits(RunState& run, OpId id, const OpContext& c) {
    Matvec m;
    m.x = run.floats(B::DecNorm);
    m.weights = run.memory.matrix(id, 0);
    m.y = run.floats(B::Logits);
    kernels::matvec(run.pool, m);
    const std::size_t count = m.weights.rows;
    if (run.status.ok())
        run.status = run.dumpLogits.write(m.y, count);
    std::span<const std::uint64_t> skip;
    if (!run.request.rawGreedy)
        skip = run.suppression.at(c.step).words();
    const auto first = static_cast<std::size_t>(run.plan.graph->op(id).weights[0].firstRow);
    run.best = kernels::argmax(m.y, count, first, skip, run.best);
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
        return crossAttention(run, id, c);
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
