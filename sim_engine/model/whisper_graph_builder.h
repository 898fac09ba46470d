// SPDX-License-Identifier: GPL-3.0-or-later
// How whisper_graph.cpp makes the graph; the passes stand in whisper_encoder_ops.cpp and
// whisper_decoder_ops.cpp.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim_engine/base/format.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::model {

/// The tensors of a card by name: there are hundreds, and each is asked for.
using TensorIds = std::unordered_map<std::string_view, base::TensorId>;

/// Lays out buffers and ops of one model under one set of options.
class WhisperGraphBuilder {
public:
    WhisperGraphBuilder(const ModelCard& card, const TensorIds& ids, const GraphOptions& options)
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
    base::TensorId find(std::string_view tensor) const { return m_ids.at(tensor); }
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
    std::int64_t tileRows() const { return std::min((m_positions + 191) / 192 * 32, m_positions); }
    /// Heads of the encoder for whose keys and values there is room: all, or a quarter of them.
    std::int64_t headsAtATime() const {
        return m_options.thrift.attention ? (m_shape.audioHeads + 3) / 4 : m_shape.audioHeads;
    }
    static std::string partName(const std::string& name, bool cut, std::int32_t part) {
        return cut ? name + base::formatted(".%d", part) : name;
    }
    base::Bytes encoderScratch() const;

    /// Without a use of its own later the output stands where the residual stream stood.
    base::BufferId encoderOutput() const {
        return whisperBuffer(shared() ? WhisperBuffer::EncOutput : WhisperBuffer::EncX);
    }
    base::BufferId selfKv(std::int32_t layer) const {
        const auto cross = shared() ? 0 : m_shape.textLayers;
        return base::BufferId(
            static_cast<std::uint32_t>(WhisperBuffer::kFixed) +
            static_cast<std::uint32_t>(cross + layer));
    }
    base::BufferId crossKv(std::int32_t layer) const {
        return shared() ? whisperBuffer(WhisperBuffer::EncOutput)
                        : base::BufferId(
                              static_cast<std::uint32_t>(WhisperBuffer::kFixed) +
                              static_cast<std::uint32_t>(layer));
    }

    /// Starts an op of `pass`; matrices and vectors are named by tensor.
    Op&
    add(PassKind pass, std::string name, WhisperOp code, OpKind kind, ShardKey key,
        std::initializer_list<std::string> tensors, std::initializer_list<base::BufferId> reads,
        std::initializer_list<base::BufferId> writes);
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

} // namespace shardscope::model
