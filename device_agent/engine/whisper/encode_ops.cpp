// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "device_agent/engine/kernels/encoder_attention.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/whisper/run_state.h"
#include "sim_engine/model/kernel_scratch.h"

namespace shardscope::engine {
namespace {

using base::OpId;
using kernels::Epilogue;
using kernels::Gemm;
using kernels::WeightOrder;
using model::WhisperOp;
using B = model::WhisperBuffer;

/// Frames that one task of the mel front end computes.
constexpr int kMelTaskFrames = 250;

std::span<std::byte> scratch(const RunState& run) {
    return run.memory.bytes(model::whisperBuffer(B::EncScratch));
}

void dumpMel(RunState& run, const float* rows, std::size_t frames) {
    const auto mels = static_cast<std::size_t>(run.shape.mels);
    std::array<float, 256> line{};
    for (std::size_t mel = 0; mel < mels && run.status.ok(); ++mel)
        for (std::size_t f = 0; f < frames && run.status.ok(); f += line.size()) {
            const std::size_t n = std::min(line.size(), frames - f);
            for (std::size_t i = 0; i < n; ++i)
                line[i] = rows[(f + i) * mels + mel];
            run.status = run.dumpMel.write(line.data(), n);
        }
}

/// Log-mel frames of the window, with a row of zeros before and after them for the convolution.
void mel(RunState& run, const plan::OpContext& context) {
    const auto mels = static_cast<std::size_t>(run.shape.mels);
    const auto frames = static_cast<int>(2 * run.positions);
    float* const rows = run.floats(B::Mel) + mels;
    std::fill_n(rows - mels, mels, 0.0f);
    std::fill_n(rows + static_cast<std::size_t>(frames) * mels, mels, 0.0f);
    const std::span<std::byte> all = run.memory.bytes(model::whisperBuffer(B::MelScratch));
    const std::size_t share = model::melScratch(1).size();
    std::atomic<float> maximum{run.melMaximum};
    std::atomic<bool> failed{false};
    const int tasks = (audio::kWindowFrames + kMelTaskFrames - 1) / kMelTaskFrames;
    run.pool.parallelFor(static_cast<std::size_t>(tasks), [&](std::size_t task, unsigned worker) {
        const int first = static_cast<int>(task) * kMelTaskFrames;
        const int last = std::min(first + kMelTaskFrames, frames);
        const auto own = all.subspan(worker * share, share);
        // Frames behind a shortened context still count for the maximum.
        const auto found =
            last > first
                ? run.mel.computeFrames(
                      run.wav, context.window, first, last,
                      rows + static_cast<std::size_t>(first) * mels, mels, own)
                : run.mel.maximumOfFrames(
                      run.wav, std::int64_t{context.window} * audio::kWindowFrames + first,
                      std::int64_t{context.window} * audio::kWindowFrames + first + kMelTaskFrames,
                      own);
        if (!found)
            return failed.store(true);
        float before = maximum.load();
        while (before < *found && !maximum.compare_exchange_weak(before, *found)) {
        }
    });
    if (failed.load()) {
        run.status = base::Error{
            base::ErrorCode::Failed, "the audio cannot be read any more", run.wav.path(),
            "check the file"};
        return;
    }
    run.mel.normalize(rows, mels, frames, maximum.load());
    if (run.dumpMel.wanted())
        dumpMel(run, rows, static_cast<std::size_t>(frames));
}

/// Rows that a buffer has room for, each of `width` floats.
std::size_t rowsIn(const RunState& run, B buffer, std::size_t width) {
    const base::Bytes bytes = run.plan.graph->buffer(model::whisperBuffer(buffer)).bytes;
    return bytes.size() / (width * sizeof(float));
}

/// The part of the op among tiles of `size` out of all positions: [first, first + rows).
struct Tile {
    Tile(const RunState& run, OpId id, std::size_t size)
        : first(static_cast<std::size_t>(run.plan.graph->op(id).part) * size),
          rows(std::min(size, run.positions - first)) {}
    std::size_t first, rows;
};

/// The first convolution makes two steps of each position behind a row that was there before: that
/// of zeros, or the last one of the tile before. The second one takes every other step.
void convolution(RunState& run, OpId id, bool isFirst) {
    const auto mels = static_cast<std::size_t>(run.shape.mels);
    const std::size_t d = run.width, most = (rowsIn(run, B::Conv1Out, d) - 1) / 2;
    const Tile tile(run, id, most);
    float* const between = run.floats(B::Conv1Out);
    if (isFirst && tile.first == 0)
        std::fill_n(between, d, 0.0f);
    else if (isFirst)
        std::copy_n(between + 2 * most * d, d, between);
    Gemm g;
    g.a = isFirst ? run.floats(B::Mel) + 2 * tile.first * mels : between;
    g.rows = isFirst ? 2 * tile.rows : tile.rows;
    g.lda = isFirst ? mels : 2 * d;
    g.weights = run.memory.matrix(id, 0);
    g.order = WeightOrder::Conv3;
    g.c = isFirst ? between + d : run.floats(B::EncX) + tile.first * d;
    g.ldc = d;
    g.epilogue = {run.memory.weight(id, 1), true, nullptr, 0};
    kernels::gemm(run.pool, g, scratch(run));
}

/// A range of the table of positions.
void positions(RunState& run, OpId id) {
    const model::WeightUse& use = run.plan.graph->op(id).weights[0];
    float* x = run.floats(B::EncX) + static_cast<std::size_t>(use.firstRow) * run.width;
    kernels::addTo(x, run.memory.weight(id, 0), static_cast<std::size_t>(use.rowCount) * run.width);
}

/// What a projection of all positions does beside its product.
struct Projection {
    bool normed = false; ///< the first two weights of the op norm the input
    bool bias = false;   ///< stands behind the matrix
    bool gelu = false;
    bool residual = false; ///< is added to what the output holds
};

/// out = epilogue(norm(in) W^T) of `rows` rows, which stand `ldc` floats apart in out (0: close).
void projectRows(
    RunState& run, OpId id, const float* in, std::size_t rows, float* out, Projection with,
    std::size_t ldc = 0) {
    const std::size_t at = with.normed ? 2 : 0;
    const auto firstRow = static_cast<std::size_t>(run.plan.graph->op(id).weights[at].firstRow);
    Gemm g;
    g.weights = run.memory.matrix(id, at);
    g.a = in;
    g.rows = rows;
    g.lda = g.weights.cols;
    if (with.normed)
        g.norm = {run.memory.weight(id, 0), run.memory.weight(id, 1)};
    g.c = out;
    g.ldc = ldc > 0 ? ldc : g.weights.rows;
    const std::byte* bias =
        with.bias ? run.memory.weight(id, at + 1) + firstRow * sizeof(float) : nullptr;
    g.epilogue = with.residual ? kernels::residualEpilogue(bias, g.c, g.ldc)
                               : Epilogue{bias, with.gelu, nullptr, 0};
    kernels::gemm(run.pool, g, scratch(run));
}

/// Queries go to their columns among all heads; keys and values stand by themselves.
void projectHeads(RunState& run, OpId id, B out, bool bias) {
    const std::size_t atATime = rowsIn(run, B::EncK, run.positions);
    const auto part = static_cast<std::size_t>(run.plan.graph->op(id).part);
    const bool queries = out == B::EncQ;
    projectRows(
        run, id, run.floats(B::EncX), run.positions,
        run.floats(out) + (queries ? part * atATime : 0), {.normed = true, .bias = bias},
        queries ? run.width : atATime);
}

/// With the heads whose keys and values are there.
void attention(RunState& run, OpId id) {
    const std::size_t atATime = rowsIn(run, B::EncK, run.positions);
    const auto part = static_cast<std::size_t>(run.plan.graph->op(id).part);
    kernels::EncoderAttention a;
    a.q = a.out = run.floats(B::EncQ) + part * atATime;
    a.k = run.floats(B::EncK);
    a.v = run.floats(B::EncV);
    a.ldq = a.ldo = run.width;
    a.ldk = a.ldv = atATime;
    a.positions = run.positions;
    a.headDim = run.width / static_cast<std::size_t>(run.shape.audioHeads);
    a.heads = std::min(atATime, run.width - part * atATime) / a.headDim;
    a.scale = 1.0f / std::sqrt(static_cast<float>(a.headDim));
    kernels::encoderAttention(run.pool, a, scratch(run));
}

void mlp(RunState& run, OpId id, bool isFirst) {
    const Tile tile(run, id, rowsIn(run, B::EncHidden, 4 * run.width));
    float* const x = run.floats(B::EncX) + tile.first * run.width;
    float* const hidden = run.floats(B::EncHidden);
    if (isFirst)
        projectRows(run, id, x, tile.rows, hidden, {.normed = true, .bias = true, .gelu = true});
    else
        projectRows(run, id, hidden, tile.rows, x, {.bias = true, .residual = true});
}

/// The encoder output; where cross-attention shares it and keeps a part, every other row of it.
void finalNorm(RunState& run, OpId id, const plan::OpContext& context) {
    const bool shared = run.plan.config.crossKv == model::KvType::Shared;
    float* out = run.floats(shared ? B::EncOutput : B::EncX);
    if (shared) // each sequence of a batch has its own
        out += static_cast<std::size_t>(context.sequence) * run.positions * run.width;
    kernels::layerNorm(
        run.pool, run.floats(B::EncX), run.width, run.positions, run.width,
        run.memory.weight(id, 0), run.memory.weight(id, 1), out, run.width);
    if (run.status.ok())
        run.status = run.dumpEncoder.write(out, run.positions * run.width);
    if (shared && run.crossPositions < run.positions)
        for (std::size_t i = 1; i < run.crossPositions; ++i)
            std::copy_n(out + 2 * i * run.width, run.width, out + i * run.width);
}

/// Keys or values of one decoder layer for all audio positions that are kept.
void crossRows(RunState& run, OpId id, const plan::OpContext& context, bool keys) {
    const auto cache = cacheOf(run, run.plan.graph->op(id).writes[0], true, static_cast<std::size_t>(context.sequence));
    const std::size_t d = run.width, step = run.crossPositions < run.positions ? 2 : 1;
    const auto store = keys ? kernels::storeKeys : kernels::storeValues;
    const std::size_t tile = rowsIn(run, B::CrossRows, d); // all, or whole blocks of the cache
    float* const between = run.floats(B::CrossRows);
    for (std::size_t first = 0; first < run.positions; first += tile) {
        const std::size_t rows = std::min(tile, run.positions - first);
        projectRows(run, id, run.floats(B::EncX) + first * d, rows, between, {.bias = !keys});
        store(run.pool, cache, first / step, (rows + step - 1) / step, between, step * d);
    }
}

} // namespace

void computeEncodeOp(RunState& run, OpId id, const plan::OpContext& context) {
    switch (static_cast<WhisperOp>(run.plan.graph->op(id).code)) {
    case WhisperOp::Mel:
        return mel(run, context);
    case WhisperOp::Conv1:
        return convolution(run, id, true);
    case WhisperOp::Conv2:
        return convolution(run, id, false);
    case WhisperOp::EncPositions:
        return positions(run, id);
    case WhisperOp::EncQuery:
        return projectHeads(run, id, B::EncQ, true);
    case WhisperOp::EncKey:
        return projectHeads(run, id, B::EncK, false);
    case WhisperOp::EncValue:
        return projectHeads(run, id, B::EncV, true);
    case WhisperOp::EncAttention:
        return attention(run, id);
    case WhisperOp::EncOut:
        return projectRows(
            run, id, run.floats(B::EncQ), run.positions, run.floats(B::EncX),
            {.bias = true, .residual = true});
    case WhisperOp::EncFc1:
        return mlp(run, id, true);
    case WhisperOp::EncFc2:
        return mlp(run, id, false);
    case WhisperOp::EncFinalNorm:
        return finalNorm(run, id, context);
    case WhisperOp::CrossKey:
        return crossRows(run, id, context, true);
    case WhisperOp::CrossValue:
        return crossRows(run, id, context, false);
    default:
        std::abort(); // a bug: an op of another pass
    }
}

} // namespace shardscope::engine
