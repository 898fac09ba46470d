// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "sim_engine/model/whisper_graph_builder.h"

namespace shardscope::model {

using base::BufferId;
using base::Bytes;
using base::TensorId;
using Stack = ShardKey::Stack;
using B = WhisperBuffer;
using Code = WhisperOp;

void WhisperGraphBuilder::buildDecode() {
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

void WhisperGraphBuilder::selfAttention(std::int32_t layer) {
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

void WhisperGraphBuilder::crossAttention(std::int32_t layer) {
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

void WhisperGraphBuilder::mlp(std::int32_t layer) {
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

void WhisperGraphBuilder::logits() {
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

} // namespace shardscope::model
