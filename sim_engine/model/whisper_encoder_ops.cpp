// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>

#include "sim_engine/model/whisper_graph_builder.h"

namespace shardscope::model {

using base::BufferId;
using base::Bytes;
using base::TensorId;
using Stack = ShardKey::Stack;
using B = WhisperBuffer;
using Code = WhisperOp;

namespace {

/// What comes in parts is packed for each of them: that takes as long as this many rows do.
constexpr double kRowsOfPacking = 16;

} // namespace

void WhisperGraphBuilder::buildEncode() {
    const auto b = whisperBuffer;
    const double p = static_cast<double>(m_positions);
    const PassKind pass = PassKind::Encode;
    Op& mel =
        add(pass, "mel", Code::Mel, OpKind::Mel, {Stack::Encoder, -1, 0, 0}, {}, {},
            {b(B::Mel), b(B::MelScratch)});
    // A real FFT of 400 points and the filters, for each frame.
    mel.cost.flops = 2 * p * (2.5 * 400 * 8.6 + 2.0 * 201 * 2 + 400);
    stem();
    encoderPositions();
    for (std::int64_t i = 0; i < m_shape.audioLayers; ++i)
        encoderLayer(static_cast<std::int32_t>(i));
    const auto last = static_cast<std::int32_t>(m_shape.audioLayers - 1);
    Op& norm = add(
        pass, "encoder.ln_post", Code::EncFinalNorm, OpKind::Vector, {Stack::Encoder, last, 1, 2},
        {"encoder.ln_post.weight", "encoder.ln_post.bias"}, {b(B::EncX)}, {encoderOutput()});
    norm.cost.flops = 8 * p * static_cast<double>(m_d);
}

/// The convolutions. Where they go by tiles, the second one takes what the first has just made.
void WhisperGraphBuilder::stem() {
    const auto b = whisperBuffer;
    const bool tiled = m_options.thrift.stem;
    const std::int64_t tile = tiled ? tileRows() : m_positions;
    for (std::int64_t first = 0; first < m_positions; first += tile) {
        const double rows = static_cast<double>(std::min(tile, m_positions - first));
        const auto part = static_cast<std::int32_t>(first / tile);
        const auto add1 = [&](const char* name, Code code, double count, BufferId in, BufferId out,
                              std::int32_t keyPart) {
            const std::string tensor = base::formatted("encoder.%s.", name);
            Op& op =
                add(PassKind::Encode, partName(tensor.substr(0, tensor.size() - 1), tiled, part),
                    code, OpKind::MatMul, {Stack::Encoder, -1, 0, keyPart},
                    {tensor + "weight", tensor + "bias"}, {in}, {out, b(B::EncScratch)});
            op.part = part;
            product(op, count + (tiled ? kRowsOfPacking : 0), tensor + "weight");
            if (part > 0)
                op.reads.push_back(out); // what the other tiles left there
        };
        add1("conv1", Code::Conv1, 2 * rows, b(B::Mel), b(B::Conv1Out), 1);
        add1("conv2", Code::Conv2, rows, b(B::Conv1Out), b(B::EncX), tiled ? 1 : 2);
    }
}

/// The table of positions is added in pieces no larger than a matrix of the MLP, so that it does
/// not decide how large a slot must be.
void WhisperGraphBuilder::encoderPositions() {
    const TensorId table = find("encoder.positional_embedding");
    const Bytes row = m_card.tensor(table).bytesPerRow();
    const Bytes most = m_card.tensor(find("encoder.blocks.0.mlp.0.weight")).bytes;
    const std::int64_t rows = std::max<std::int64_t>(most.value / row.value, 1);
    const BufferId x = whisperBuffer(B::EncX);
    for (std::int64_t first = 0, part = 0; first < m_positions; first += rows, ++part) {
        Op& op =
            add(PassKind::Encode, base::formatted("encoder.positions.%d", static_cast<int>(part)),
                Code::EncPositions, OpKind::Vector,
                {Stack::Encoder, -1, 0, 3 + static_cast<std::int32_t>(part)}, {}, {x}, {x});
        op.weights.push_back({table, first, std::min(rows, m_positions - first)});
        op.cost.flops = static_cast<double>(op.weights[0].rowCount * m_d);
    }
}

void WhisperGraphBuilder::encoderLayer(std::int32_t layer) {
    const auto b = whisperBuffer;
    const std::string t = base::formatted("encoder.blocks.%d.attn.out.", layer);
    const std::int64_t heads = headsAtATime();
    for (std::int64_t first = 0; first < m_shape.audioHeads; first += heads)
        encoderHeads(layer, first, std::min(heads, m_shape.audioHeads - first));
    product(
        add(PassKind::Encode, base::formatted("encoder.%d.self.out", layer), Code::EncOut,
            OpKind::MatMul, {Stack::Encoder, layer, 0, 3}, {t + "weight", t + "bias"},
            {b(B::EncQ), b(B::EncX)}, {b(B::EncX), b(B::EncScratch)}),
        static_cast<double>(m_positions), t + "weight");
    const std::int64_t tile = m_options.thrift.mlp ? tileRows() : m_positions;
    for (std::int64_t first = 0; first < m_positions; first += tile)
        encoderMlp(
            layer, static_cast<std::int32_t>(first / tile), std::min(tile, m_positions - first));
}

/// Projections and attention of heads [first, first + count).
void WhisperGraphBuilder::encoderHeads(std::int32_t layer, std::int64_t first, std::int64_t count) {
    const auto b = whisperBuffer;
    const double p = static_cast<double>(m_positions);
    const std::int64_t headDim = m_d / m_shape.audioHeads, width = count * headDim;
    const bool cut = headsAtATime() < m_shape.audioHeads;
    const auto part = static_cast<std::int32_t>(first / headsAtATime());
    const std::string t = base::formatted("encoder.blocks.%d.attn", layer);
    const std::string n = base::formatted("encoder.%d.self.", layer);
    const BufferId scratch = b(B::EncScratch);
    const auto finish = [&](Op& op, double flops) {
        op.part = part;
        op.cost.flops = flops;
        if (part > 0) // what the other heads left there
            op.reads.push_back(b(B::EncQ));
    };
    const auto project = [&](const char* name, Code code, std::int32_t keyPart,
                             std::initializer_list<std::string> tensors, B out) {
        Op& op =
            add(PassKind::Encode, partName(n + name, cut, part), code, OpKind::MatMul,
                {Stack::Encoder, layer, 0, cut ? 0 : keyPart}, tensors, {b(B::EncX)},
                {b(out), scratch});
        op.dtype = m_card.tensor(op.weights[2].tensor).dtype;
        op.weights[2].firstRow = first * headDim;
        op.weights[2].rowCount = width;
        const double packing = cut ? kRowsOfPacking : 0; // here of the rows: columns' worth
        finish(op, 2 * p * static_cast<double>(m_d) * (static_cast<double>(width) + packing));
    };
    project(
        "q", Code::EncQuery, 0,
        {t + "_ln.weight", t + "_ln.bias", t + ".query.weight", t + ".query.bias"}, B::EncQ);
    project("k", Code::EncKey, 1, {t + "_ln.weight", t + "_ln.bias", t + ".key.weight"}, B::EncK);
    project(
        "v", Code::EncValue, 2,
        {t + "_ln.weight", t + "_ln.bias", t + ".value.weight", t + ".value.bias"}, B::EncV);
    finish(
        add(PassKind::Encode, partName(n + "attention", cut, part), Code::EncAttention,
            OpKind::Attention, {Stack::Encoder, layer, 0, cut ? 0 : 2}, {},
            {b(B::EncQ), b(B::EncK), b(B::EncV)}, {b(B::EncQ), scratch}),
        4 * p * p * static_cast<double>(width));
}

/// The MLP of one tile of `rows` rows.
void WhisperGraphBuilder::encoderMlp(std::int32_t layer, std::int32_t part, std::int64_t rows) {
    const auto b = whisperBuffer;
    const bool cut = rows < m_positions;
    const std::string t = base::formatted("encoder.blocks.%d.mlp", layer);
    const std::string n = base::formatted("encoder.%d.mlp.", layer);
    const auto multiply = [&](const char* name, Code code, std::int32_t keyPart,
                              const std::string& matrix, std::initializer_list<std::string> tensors,
                              std::initializer_list<BufferId> reads, BufferId out) {
        Op& op = add(
            PassKind::Encode, partName(n + name, cut, part), code, OpKind::MatMul,
            {Stack::Encoder, layer, 1, cut ? 0 : keyPart}, tensors, reads, {out, b(B::EncScratch)});
        op.part = part;
        product(op, static_cast<double>(rows) + (cut ? kRowsOfPacking : 0), matrix);
    };
    multiply(
        "fc1", Code::EncFc1, 0, t + ".0.weight",
        {t + "_ln.weight", t + "_ln.bias", t + ".0.weight", t + ".0.bias"}, {b(B::EncX)},
        b(B::EncHidden));
    multiply(
        "fc2", Code::EncFc2, 1, t + ".2.weight", {t + ".2.weight", t + ".2.bias"},
        {b(B::EncHidden), b(B::EncX)}, b(B::EncX));
}

void WhisperGraphBuilder::buildCross() {
    if (shared())
        return;
    const auto b = whisperBuffer;
    const double p = static_cast<double>(m_positions);
    for (std::int32_t i = 0; i < m_shape.textLayers; ++i) {
        const std::string t = base::formatted("decoder.blocks.%d.cross_attn.", i);
        const std::string n = base::formatted("cross.%d.", i);
        const auto into = [&](const char* name, Code code, std::int32_t part,
                              const std::string& weight,
                              std::initializer_list<std::string> tensors) {
            product(
                add(PassKind::Cross, n + name, code, OpKind::MatMul, {Stack::Cross, i, 0, part},
                    tensors, {encoderOutput()}, {crossKv(i), b(B::CrossRows), b(B::EncScratch)}),
                p, weight);
        };
        into("k", Code::CrossKey, 0, t + "key.weight", {t + "key.weight"});
        into("v", Code::CrossValue, 1, t + "value.weight", {t + "value.weight", t + "value.bias"});
    }
}

} // namespace shardscope::model
