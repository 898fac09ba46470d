// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "sim_engine/base/format.h"
#include "sim_engine/model/kernel_scratch.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::model {
namespace {

using base::BufferId;
using base::Bytes;
using base::TensorId;
using Stack = ShardKey::Stack;
using B = WhisperBuffer;
using Code = WhisperOp;

/// The tensors of a card by name: there are hundreds, and each is asked for.
using TensorIds = std::unordered_map<std::string_view, TensorId>;

TensorIds idsOf(const ModelCard& card) {
    TensorIds ids;
    ids.reserve(card.tensors.size());
    for (std::size_t i = 0; i < card.tensors.size(); ++i)
        ids.emplace(card.tensors[i].name, TensorId(i));
    return ids;
}

/// What comes in parts is packed for each of them: that takes as long as this many rows do.
constexpr double kRowsOfPacking = 16;

/// Lays out buffers and ops of one model under one set of options.
class Builder {
public:
    Builder(const ModelCard& card, const TensorIds& ids, const GraphOptions& options)
        : m_card(card), m_ids(ids), m_options(options), m_shape(whisperShape(card)),
          m_d(m_shape.audioState), m_positions(whisperPositions(m_shape, options)),
          m_crossPositions(whisperCrossPositions(m_shape, options)),
          m_textPositions(whisperTextPositions(m_shape, options)) {
        m_graph.promptTokens = options.promptTokens > 0
                                   ? options.promptTokens
                                   : whisperPromptTokens(m_shape, options.timestamps);
        m_graph.settlesPrompt = options.detectLanguage;
        m_graph.batch = options.batch;
        m_graph.beam = options.beam;
        m_graph.mostTokens =
            static_cast<std::int32_t>(m_shape.textPositions) - m_graph.promptTokens + 1;
    }

    Graph build() {
        layVocabulary();
        layBuffers();
        for (std::size_t i = 0; i < kPassCount; ++i)
            m_graph.passes.push_back({static_cast<PassKind>(i), {}});
        buildEncode();
        buildCross();
        buildDecode();
        m_graph.passes[static_cast<std::size_t>(PassKind::Decode)].ops =
            m_graph.pass(PassKind::Prefill).ops;
        return std::move(m_graph);
    }

private:
    /// The tensor of that name, which checkCard has found there.
    TensorId find(std::string_view tensor) const { return m_ids.at(tensor); }
    bool shared() const { return m_options.crossKv == KvType::Shared; }

    void layVocabulary();
    void layBuffers();
    void buildEncode();
    void stem();
    void encoderPositions();
    void encoderLayer(std::int32_t layer);
    void encoderHeads(std::int32_t layer, std::int64_t first, std::int64_t count);
    void encoderMlp(std::int32_t layer, std::int32_t part, std::int64_t rows);
    void buildCross();
    void buildDecode();
    void selfAttention(std::int32_t layer);
    void crossAttention(std::int32_t layer);
    void mlp(std::int32_t layer);
    void logits();

    /// Rows of a tile, where the buffers hold no more: a sixth of all, and whole blocks of KV.
    std::int64_t tileRows() const {
        return std::min((m_positions + 191) / 192 * 32, m_positions);
    }
    /// Heads of the encoder for whose keys and values there is room: all, or a quarter of them.
    std::int64_t headsAtATime() const {
        return m_options.thrift.attention ? (m_shape.audioHeads + 3) / 4 : m_shape.audioHeads;
    }
    static std::string partName(const std::string& name, bool cut, std::int32_t part) {
        return cut ? name + base::formatted(".%d", part) : name;
    }
    Bytes encoderScratch() const;

    /// Without a use of its own later the output stands where the residual stream stood.
    BufferId encoderOutput() const { return whisperBuffer(shared() ? B::EncOutput : B::EncX); }
    BufferId selfKv(std::int32_t layer) const {
        const auto cross = shared() ? 0 : m_shape.textLayers;
        return BufferId(
            static_cast<std::uint32_t>(B::kFixed) + static_cast<std::uint32_t>(cross + layer));
    }
    BufferId crossKv(std::int32_t layer) const {
        return shared()
                   ? whisperBuffer(B::EncOutput)
                   : BufferId(
                         static_cast<std::uint32_t>(B::kFixed) + static_cast<std::uint32_t>(layer));
    }

    /// Starts an op of pass `m_pass`; matrices and vectors are named by tensor.
    Op&
    add(PassKind pass, std::string name, Code code, OpKind kind, ShardKey key,
        std::initializer_list<std::string> tensors, std::initializer_list<BufferId> reads,
        std::initializer_list<BufferId> writes);
    /// The flops of a product of `rows` rows with every weight of the op's matrix.
    static void productOf(Op& op, double rows, const TensorInfo& matrix) {
        op.dtype = matrix.dtype;
        op.cost.flops = 2.0 * rows * static_cast<double>(matrix.rows() * matrix.rowElements());
    }
    void product(Op& op, double rows, const std::string& matrix) const {
        productOf(op, rows, m_card.tensor(find(matrix)));
    }

    const ModelCard& m_card;
    const TensorIds& m_ids;
    const GraphOptions& m_options;
    WhisperShape m_shape;
    std::int64_t m_d, m_positions, m_crossPositions, m_textPositions;
    std::int64_t m_rowsPerVocabShard = 0, m_vocabShards = 0;
    Graph m_graph;
};

Op& Builder::add(
    PassKind pass, std::string name, Code code, OpKind kind, ShardKey key,
    std::initializer_list<std::string> tensors, std::initializer_list<BufferId> reads,
    std::initializer_list<BufferId> writes) {
    Op op;
    op.name = std::move(name);
    op.code = static_cast<std::uint16_t>(code);
    op.kind = kind;
    op.key = key;
    for (const std::string& t : tensors) {
        const TensorId id = find(t);
        op.weights.push_back({id, 0, m_card.tensor(id).rows()});
    }
    op.reads = reads;
    op.writes = writes;
    m_graph.passes[static_cast<std::size_t>(pass)].ops.push_back(base::OpId(m_graph.ops.size()));
    return m_graph.ops.emplace_back(std::move(op));
}

/// Vocabulary shards that are about as large as the largest other shard of a decoding pass.
void Builder::layVocabulary() {
    const TensorInfo& table = m_card.tensor(find("decoder.token_embedding.weight"));
    std::int64_t shards = m_options.vocabShards;
    if (shards == 0) {
        const TensorInfo& fc = m_card.tensor(find("decoder.blocks.0.mlp.0.weight"));
        const TensorInfo& square = m_card.tensor(find("decoder.blocks.0.attn.out.weight"));
        const Bytes layer = fc.bytes * 2 + square.bytes * (shared() ? 8 : 6);
        Bytes target = fc.bytes;
        if (m_options.decoder.kind == Granularity::Kind::Sublayer)
            target = std::max(fc.bytes * 2, square.bytes * 4);
        if (m_options.decoder.kind == Granularity::Kind::Layers)
            target = layer * std::min<std::int64_t>(m_options.decoder.layers, m_shape.textLayers);
        shards = (table.bytes.value + target.value - 1) / target.value;
    }
    m_rowsPerVocabShard = (m_shape.vocab + shards - 1) / shards;
    m_vocabShards = (m_shape.vocab + m_rowsPerVocabShard - 1) / m_rowsPerVocabShard;
}

void Builder::layBuffers() {
    const std::int64_t d = m_d, p = m_positions, batch = m_graph.batch;
    // Rows of a decoding pass, at the most: the beams of a window begin after its prompt.
    const std::int64_t beams = batch * m_graph.beam;
    const std::int64_t rows = std::max(m_graph.promptTokens * batch, beams);
    const std::int64_t frames = 2 * p + 2;
    const auto f32 = [](std::int64_t n) { return Bytes(4 * n); };
    const auto lay = [&](const char* name, Region region, Bytes bytes) {
        m_graph.buffers.push_back({name, region, bytes, false});
    };
    const std::int64_t heads = m_shape.textHeads, threads = m_options.threads;
    const Bytes decoderScratch = std::max(
        decodeAttentionScratch(std::max(m_textPositions, m_crossPositions), threads),
        shared() ? sharedAttentionScratch(m_crossPositions, d, heads) : Bytes(0));
    lay("mel", Region::Audio, f32(frames * m_shape.mels));
    lay("mel scratch", Region::Audio, melScratch(threads));
    const Thrift& thrift = m_options.thrift;
    lay("conv1 output", Region::Activations, f32((thrift.stem ? 2 * tileRows() + 1 : frames) * d));
    lay("encoder x", Region::Activations, f32(p * d));
    lay("encoder q", Region::Activations, f32(p * d));
    const std::int64_t kvWidth = d / m_shape.audioHeads * headsAtATime();
    lay("encoder k", Region::Activations, f32(p * kvWidth));
    lay("encoder v", Region::Activations, f32(p * kvWidth));
    lay("encoder hidden", Region::Activations, f32((thrift.mlp ? tileRows() : p) * 4 * d));
    lay("encoder scratch", Region::Scratch, encoderScratch());
    lay("encoder output", Region::CrossKv, shared() ? f32(p * d) * batch : Bytes(0));
    m_graph.buffers.back().keptOverBatch = shared() && batch > 1;
    lay("cross rows", Region::Activations,
        shared() ? Bytes(0) : f32((thrift.scratch ? tileRows() : p) * d));
    lay("decoder x", Region::Activations, f32(rows * d));
    lay("decoder norm", Region::Activations, f32(rows * d));
    lay("decoder q", Region::Activations, f32(rows * d));
    lay("decoder row", Region::Activations, f32(rows * d));
    lay("decoder hidden", Region::Activations, f32(rows * 4 * d));
    lay("decoder scratch", Region::Scratch, decoderScratch);
    lay("logits", Region::Activations, f32(m_rowsPerVocabShard * beams));
    const Bytes tokenRow = m_card.tensor(find("decoder.token_embedding.weight")).bytesPerRow();
    lay("embedding rows", Region::Activations, (tokenRow + f32(d)) * rows);
    for (std::int64_t i = 0; !shared() && i < m_shape.textLayers; ++i)
        m_graph.buffers.push_back(
            {base::formatted("cross KV %d", static_cast<int>(i)), Region::CrossKv,
             kvRowBytes(m_options.crossKv, d, heads) *
                 (2 * paddedPositions(m_crossPositions) * batch),
             batch > 1});
    for (std::int64_t i = 0; i < m_shape.textLayers; ++i)
        m_graph.buffers.push_back(
            {base::formatted("self KV %d", static_cast<int>(i)), Region::SelfKv,
             kvRowBytes(m_options.selfKv, d, heads) *
                 (2 * paddedPositions(m_textPositions) * beams),
             false});
}

/// Working space of the products and the attention of encode and cross.
Bytes Builder::encoderScratch() const {
    const std::int64_t d = m_d, threads = m_options.threads;
    const auto product = [&](std::int64_t outer, std::int64_t inner) {
        return m_options.thrift.scratch ? matMulLeastScratch(inner, threads)
                                        : matMulScratch(outer, inner, threads);
    };
    return std::max(
        {product(d, 3 * m_shape.mels), product(d, 3 * d), product(4 * d, d), product(d, 4 * d),
         attentionScratch(m_positions, d / m_shape.audioHeads, threads)});
}

void Builder::buildEncode() {
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
void Builder::stem() {
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
void Builder::encoderPositions() {
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

void Builder::encoderLayer(std::int32_t layer) {
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
void Builder::encoderHeads(std::int32_t layer, std::int64_t first, std::int64_t count) {
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
void Builder::encoderMlp(std::int32_t layer, std::int32_t part, std::int64_t rows) {
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

void Builder::buildCross() {
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

void Builder::buildDecode() {
    const auto b = whisperBuffer;
    const PassKind pass = PassKind::Prefill;
    Op& embed =
        add(pass, "embed", Code::Embed, OpKind::RowGather, {Stack::Rows, 0, 0, 0}, {}, {b(B::Rows)},
            {b(B::DecX)});
    embed.rowReads = {find("decoder.token_embedding.weight"), find("decoder.positional_embedding")};
    embed.rowCounts = {m_shape.vocab, m_textPositions};
    embed.cost.flops = static_cast<double>(m_d);
    for (std::int64_t i = 0; i < m_shape.textLayers; ++i) {
        selfAttention(static_cast<std::int32_t>(i));
        crossAttention(static_cast<std::int32_t>(i));
        mlp(static_cast<std::int32_t>(i));
    }
    logits();
}

void Builder::selfAttention(std::int32_t layer) {
    const auto b = whisperBuffer;
    const PassKind pass = PassKind::Prefill;
    const std::string t = base::formatted("decoder.blocks.%d.", layer);
    const std::string n = base::formatted("decoder.%d.self.", layer);
    const auto key = [&](std::int32_t part) { return ShardKey{Stack::Decoder, layer, 0, part}; };
    const BufferId kv = selfKv(layer);
    product(
        add(pass, n + "q", Code::SelfQuery, OpKind::MatVec, key(0),
            {t + "attn_ln.weight", t + "attn_ln.bias", t + "attn.query.weight",
             t + "attn.query.bias"},
            {b(B::DecX), b(B::DecNorm)}, {b(B::DecQ)}),
        1, t + "attn.query.weight");
    product(
        add(pass, n + "k", Code::SelfKey, OpKind::MatVec, key(1), {t + "attn.key.weight"},
            {b(B::DecNorm), b(B::DecRow)}, {kv}),
        1, t + "attn.key.weight");
    product(
        add(pass, n + "v", Code::SelfValue, OpKind::MatVec, key(2),
            {t + "attn.value.weight", t + "attn.value.bias"}, {b(B::DecNorm), b(B::DecRow)}, {kv}),
        1, t + "attn.value.weight");
    Op& attention =
        add(pass, n + "attention", Code::SelfAttention, OpKind::Attention, key(2), {},
            {b(B::DecQ), kv, b(B::DecScratch)}, {b(B::DecQ)});
    const Bytes row = kvRowBytes(m_options.selfKv, m_d, m_shape.textHeads);
    attention.cost.flopsPerPosition = 4.0 * static_cast<double>(m_d);
    attention.cost.stateBytesPerPosition = 2.0 * row.real();
    product(
        add(pass, n + "out", Code::SelfOut, OpKind::MatVec, key(3),
            {t + "attn.out.weight", t + "attn.out.bias"}, {b(B::DecQ)}, {b(B::DecX)}),
        1, t + "attn.out.weight");
}

void Builder::crossAttention(std::int32_t layer) {
    const auto b = whisperBuffer;
    const PassKind pass = PassKind::Prefill;
    const std::string t = base::formatted("decoder.blocks.%d.cross_attn", layer);
    const std::string n = base::formatted("decoder.%d.cross.", layer);
    const auto key = [&](std::int32_t part) { return ShardKey{Stack::Decoder, layer, 1, part}; };
    const double positions = static_cast<double>(m_crossPositions), d = static_cast<double>(m_d);
    product(
        add(pass, n + "q", Code::CrossQuery, OpKind::MatVec, key(0),
            {t + "_ln.weight", t + "_ln.bias", t + ".query.weight", t + ".query.bias"},
            {b(B::DecX), b(B::DecNorm)}, {b(B::DecQ)}),
        1, t + ".query.weight");
    Op& attention =
        add(pass, n + "attention", Code::CrossAttention, OpKind::Attention, key(1), {},
            {b(B::DecQ), crossKv(layer), b(B::DecScratch)}, {b(B::DecQ)});
    attention.cost.flops = 4 * positions * d;
    attention.cost.stateBytes =
        2 * positions * kvRowBytes(m_options.crossKv, m_d, m_shape.textHeads).real();
    if (shared()) {
        // Queries go into the space of the encoder output, mixed outputs into values: two products
        // with a d x d matrix each, and every head looks at whole rows.
        for (const char* name : {".key.weight", ".value.weight", ".value.bias"}) {
            const TensorId id = find(t + name);
            attention.weights.push_back({id, 0, m_card.tensor(id).rows()});
        }
        attention.dtype = m_card.tensor(find(t + ".key.weight")).dtype;
        attention.cost.flops =
            4 * positions * d * static_cast<double>(m_shape.textHeads) + 4 * d * d;
        attention.cost.stateBytes = 4 * positions * d;
    }
    product(
        add(pass, n + "out", Code::CrossOut, OpKind::MatVec, key(3),
            {t + ".out.weight", t + ".out.bias"}, {b(B::DecQ)}, {b(B::DecX)}),
        1, t + ".out.weight");
}

void Builder::mlp(std::int32_t layer) {
    const auto b = whisperBuffer;
    const std::string t = base::formatted("decoder.blocks.%d.mlp", layer);
    const std::string n = base::formatted("decoder.%d.mlp.", layer);
    product(
        add(PassKind::Prefill, n + "fc1", Code::Fc1, OpKind::MatVec, {Stack::Decoder, layer, 2, 0},
            {t + "_ln.weight", t + "_ln.bias", t + ".0.weight", t + ".0.bias"},
            {b(B::DecX), b(B::DecNorm)}, {b(B::DecHidden)}),
        1, t + ".0.weight");
    product(
        add(PassKind::Prefill, n + "fc2", Code::Fc2, OpKind::MatVec, {Stack::Decoder, layer, 2, 1},
            {t + ".2.weight", t + ".2.bias"}, {b(B::DecHidden)}, {b(B::DecX)}),
        1, t + ".2.weight");
}

void Builder::logits() {
    const auto b = whisperBuffer;
    const auto last = static_cast<std::int32_t>(m_shape.textLayers - 1);
    Op& norm =
        add(PassKind::Prefill, "decoder.ln", Code::FinalNorm, OpKind::Vector,
            {Stack::Decoder, last, 2, 2}, {"decoder.ln.weight", "decoder.ln.bias"}, {b(B::DecX)},
            {b(B::DecNorm)});
    norm.cost.flops = 8 * static_cast<double>(m_d);
    norm.lastTokenOnly = true;
    const TensorId table = find("decoder.token_embedding.weight");
    for (std::int64_t i = 0; i < m_vocabShards; ++i) {
        Op& op =
            add(PassKind::Prefill, base::formatted("logits.%d", static_cast<int>(i)), Code::Logits,
                OpKind::MatVec, {Stack::Vocabulary, static_cast<std::int32_t>(i), 0, 0}, {},
                {b(B::DecNorm)}, {b(B::Logits)});
        op.lastTokenOnly = true;
        const std::int64_t first = i * m_rowsPerVocabShard;
        const std::int64_t rows = std::min(m_rowsPerVocabShard, m_shape.vocab - first);
        op.weights.push_back({table, first, rows});
        op.dtype = m_card.tensor(table).dtype;
        op.cost.flops = 2.0 * static_cast<double>(rows * m_d);
    }
}

/// Every tensor that the graph names is there, with the dimensions that it needs.
base::Status checkCard(const ModelCard& card, const WhisperShape& shape, const TensorIds& ids) {
    if (const auto why = implausible(shape); !why.empty())
        return base::Error{
            base::ErrorCode::BadInput, std::string(why), card.name, "use a Whisper model file"};
    for (const TensorInfo& expected : whisperTensors(shape, DType::F16)) {
        const auto id = ids.find(expected.name);
        if (id == ids.end() || card.tensor(id->second).shape != expected.shape)
            return base::Error{
                base::ErrorCode::BadInput, "tensor " + expected.name + " is missing", card.name,
                "use a complete Whisper model file"};
    }
    return {};
}

} // namespace

base::Result<Graph> buildWhisperGraph(const ModelCard& card, const GraphOptions& options) {
    const WhisperShape shape = whisperShape(card);
    const TensorIds ids = idsOf(card);
    if (auto status = checkCard(card, shape, ids); !status)
        return status.error();
    const auto usage = [](std::string what, std::string mend) {
        return base::Error{base::ErrorCode::Usage, std::move(what), "", std::move(mend)};
    };
    if (options.audioPositions > shape.audioPositions)
        return usage(
            base::formatted(
                "--audio-ctx is above the model's %d positions",
                static_cast<int>(shape.audioPositions)),
            "give a smaller one");
    if (options.detectLanguage && !shape.multilingual())
        return usage("--language auto: this model knows English alone", "leave it at en");
    if (options.promptTokens + 1 > shape.textPositions)
        return usage("the prompt leaves no room for text", "give a shorter one");
    if (options.vocabShards > shape.vocab / 16)
        return usage("--vocab-shards is above a sixteenth of the vocabulary", "give a smaller one");
    return Builder(card, ids, options).build();
}

} // namespace shardscope::model
