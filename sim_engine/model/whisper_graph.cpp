// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <string>

#include "sim_engine/model/kernel_scratch.h"
#include "sim_engine/model/whisper_graph_builder.h"

namespace shardscope::model {

using base::BufferId;
using base::Bytes;
using base::TensorId;

namespace {

TensorIds idsOf(const ModelCard& card) {
    TensorIds ids;
    ids.reserve(card.tensors.size());
    for (std::size_t i = 0; i < card.tensors.size(); ++i)
        ids.emplace(card.tensors[i].name, TensorId(i));
    return ids;
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

Op& WhisperGraphBuilder::add(
    PassKind pass, std::string name, WhisperOp code, OpKind kind, ShardKey key,
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
void WhisperGraphBuilder::layVocabulary() {
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

void WhisperGraphBuilder::layBuffers() {
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
Bytes WhisperGraphBuilder::encoderScratch() const {
    const std::int64_t d = m_d, threads = m_options.threads;
    const auto product = [&](std::int64_t outer, std::int64_t inner) {
        return m_options.thrift.scratch ? matMulLeastScratch(inner, threads)
                                        : matMulScratch(outer, inner, threads);
    };
    return std::max(
        {product(d, 3 * m_shape.mels), product(d, 3 * d), product(4 * d, d), product(d, 4 * d),
         attentionScratch(m_positions, d / m_shape.audioHeads, threads)});
}

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
    return WhisperGraphBuilder(card, ids, options).build();
}

} // namespace shardscope::model
