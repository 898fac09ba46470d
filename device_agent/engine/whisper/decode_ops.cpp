// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
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

/// A sequence of a decoding op: a window by its place in the batch, and which of its beams.
struct Sequence {
    std::size_t place = 0;
    std::size_t beam = 0;
};

/// Calls fn(sequence) for each sequence, in the order of their rows.
template <typename Fn>
void forEachSequence(const OpContext& c, Fn fn) {
    Sequence sequence;
    for (std::size_t i = 0; i < c.active.size(); ++i) {
        sequence.beam = i > 0 && c.active[i] == c.active[i - 1] ? sequence.beam + 1 : 0;
        sequence.place = static_cast<std::size_t>(c.active[i]);
        fn(sequence);
    }
}

/// Calls fn(row, sequence, token) for each row of a decoding op.
template <typename Fn>
void forEachRow(const OpContext& c, Fn fn) {
    std::size_t row = 0;
    forEachSequence(c, [&](Sequence sequence) {
        for (std::int32_t token = 0; token < c.tokens; ++token)
            fn(row++, sequence, token);
    });
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
    forEachRow(c, [&](std::size_t i, Sequence, std::int32_t token) {
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

/// The self cache that a sequence writes. A prompt is that of all beams and goes to the first.
kernels::KvCache
ownCache(const RunState& run, base::BufferId buffer, Sequence s, std::int32_t step) {
    const std::size_t first = s.place * static_cast<std::size_t>(run.plan.graph->beam);
    const bool isBeam = step > 0 && !run.searches.empty();
    return cacheOf(run, buffer, false, first + (isBeam ? run.searches[s.place].slotOf(s.beam) : 0));
}

/// The self cache that it reads: beams share the rows that they have in common.
kernels::KvCache
seenCache(const RunState& run, base::BufferId buffer, Sequence s, std::int32_t step) {
    kernels::KvCache cache = ownCache(run, buffer, {s.place, 0}, 0);
    if (step > 0 && !run.searches.empty())
        cache.slotOf = run.searches[s.place].rowsOf(s.beam);
    return cache;
}

/// Keys or values of the new tokens into the self cache.
void appendRows(RunState& run, OpId id, const OpContext& c, bool keys) {
    project(run, id, 0, B::DecNorm, B::DecRow, c, !keys, false, false);
    const auto store = keys ? kernels::storeKeys : kernels::storeValues;
    const auto tokens = static_cast<std::size_t>(c.tokens);
    const float* rows = run.floats(B::DecRow);
    forEachSequence(c, [&](Sequence s) {
        const auto cache = ownCache(run, run.plan.graph->op(id).writes[0], s, c.step);
        store(run.pool, cache, static_cast<std::size_t>(c.position), tokens, rows, run.width);
        rows += tokens * run.width;
    });
}

std::span<std::byte> scratch(const RunState& run) {
    return run.memory.bytes(model::whisperBuffer(B::DecScratch));
}

/// Attention of all rows, each to the cache and the positions that seen(sequence, token) tells.
template <typename Seen>
void attend(RunState& run, const OpContext& c, Seen seen) {
    std::array<kernels::DecodeQuery, 16> queries;
    std::size_t count = 0;
    const auto flush = [&] {
        kernels::decodeAttention(
            run.pool, std::span(queries).first(count), headScale(run), scratch(run));
        count = 0;
    };
    forEachRow(c, [&](std::size_t row, Sequence sequence, std::int32_t token) {
        if (count == queries.size())
            flush();
        kernels::DecodeQuery& query = queries[count++] = seen(sequence, token);
        query.q = query.out = run.floats(B::DecQ) + row * run.width;
    });
    flush();
}

void selfAttention(RunState& run, OpId id, const OpContext& c) {
    const base::BufferId buffer = run.plan.graph->op(id).reads[1];
    attend(run, c, [&](Sequence s, std::int32_t token) {
        return kernels::DecodeQuery{
            seenCache(run, buffer, s, c.step), static_cast<std::size_t>(c.position + token) + 1,
            nullptr, nullptr};
    });
}

void crossAttention(RunState& run, OpId id, const OpContext& c) {
    const base::BufferId buffer = run.plan.graph->op(id).reads[1];
    attend(run, c, [&](Sequence s, std::int32_t) {
        return kernels::DecodeQuery{
            cacheOf(run, buffer, true, s.place), run.crossPositions, nullptr, nullptr};
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
    forEachRow(c, [&](std::size_t row, Sequence s, std::int32_t) {
        float* q = run.floats(B::DecQ) + row * run.width;
        a.encoded = run.floats(B::EncOutput) + s.place * run.positions * run.width;
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
    if (c.settles)
        return;
    forEachSequence(c, [&](Sequence s) {
        const std::int64_t frames = run.framesFrom(c.window + static_cast<std::int32_t>(s.place));
        if (!run.searches.empty() && s.beam == 0) {
            if (c.step == 0)
                run.searches[s.place].beginWindow(frames, tokens);
            run.searches[s.place].beginStep(c.step);
        } else if (run.searches.empty()) {
            if (c.step == 0)
                run.picks[s.place].beginWindow(frames);
            run.picks[s.place].beginStep(c.step);
        }
    });
}

/// Logits of rows that each belong to a beam: ranking them is work enough to be shared.
void rankLogits(
    RunState& run, const OpContext& c, const float* logits, std::size_t count, std::size_t first) {
    run.pool.parallelFor(c.active.size(), [&](std::size_t row, unsigned) {
        const auto begin = std::find(c.active.begin(), c.active.end(), c.active[row]);
        run.searches[static_cast<std::size_t>(c.active[row])].take(
            row - static_cast<std::size_t>(begin - c.active.begin()), logits + row * count, count,
            first);
    });
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
    if (!run.searches.empty())
        return rankLogits(run, c, m.y, count, first);
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
