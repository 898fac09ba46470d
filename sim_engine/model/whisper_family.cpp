// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/whisper_family.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim_engine/base/format.h"

namespace shardscope::model {

WhisperShape whisperShape(const ModelCard& card) {
    return {card.hparam("n_vocab"),      card.hparam("n_audio_ctx"),   card.hparam("n_audio_state"),
            card.hparam("n_audio_head"), card.hparam("n_audio_layer"), card.hparam("n_text_ctx"),
            card.hparam("n_text_state"), card.hparam("n_text_head"),   card.hparam("n_text_layer"),
            card.hparam("n_mels"),       card.hparam("ftype")};
}

std::string_view implausible(const WhisperShape& s) {
    const auto within = [](std::int64_t v, std::int64_t low, std::int64_t high) {
        return v >= low && v <= high;
    };
    if (!within(s.vocab, 50000, 200000))
        return "n_vocab is not that of a Whisper model";
    if (!within(s.audioPositions, 16, 1 << 16) || !within(s.textPositions, 8, 1 << 16))
        return "the number of positions is impossible";
    if (!within(s.audioLayers, 1, 256) || !within(s.textLayers, 1, 256))
        return "the number of layers is impossible";
    if (!within(s.audioState, 8, 16384) || s.textState != s.audioState)
        return "the width of the model is impossible";
    if (!within(s.audioHeads, 1, 256) || !within(s.textHeads, 1, 256))
        return "the number of heads is impossible";
    if (s.audioState % s.audioHeads != 0 || s.textState % s.textHeads != 0)
        return "the width is not a multiple of the heads";
    if ((s.audioState / s.audioHeads) % 8 != 0 || (s.textState / s.textHeads) % 8 != 0 ||
        s.textState / s.textHeads > 128 || s.audioState / s.audioHeads > 128)
        return "the width of a head is not a multiple of 8 up to 128";
    if (s.mels != 80 && s.mels != 128)
        return "n_mels is neither 80 nor 128";
    return {};
}

namespace {

/// Collects tensors under a growing prefix.
class TensorList {
public:
    TensorList(DType matrix, std::int64_t width) : m_matrix(matrix), m_width(width) {}

    void vector(const std::string& name, std::vector<std::int64_t> shape) {
        m_tensors.push_back({name, DType::F32, std::move(shape), {}, {}});
    }
    void matrix(const std::string& name, std::vector<std::int64_t> shape) {
        // Convolutions (3 taps) and narrow rows cannot be cut into blocks: such files keep f16.
        const bool whole = shape.back() % blockElements(m_matrix) == 0;
        m_tensors.push_back({name, whole ? m_matrix : DType::F16, std::move(shape), {}, {}});
    }
    void norm(const std::string& prefix) {
        vector(prefix + ".weight", {m_width});
        vector(prefix + ".bias", {m_width});
    }
    void linear(const std::string& prefix, std::int64_t out, std::int64_t in, bool bias = true) {
        matrix(prefix + ".weight", {out, in});
        if (bias)
            vector(prefix + ".bias", {out});
    }
    void attention(const std::string& prefix) {
        norm(prefix + "_ln");
        linear(prefix + ".query", m_width, m_width);
        linear(prefix + ".key", m_width, m_width, false);
        linear(prefix + ".value", m_width, m_width);
        linear(prefix + ".out", m_width, m_width);
    }
    void mlp(const std::string& prefix) {
        norm(prefix + ".mlp_ln");
        linear(prefix + ".mlp.0", 4 * m_width, m_width);
        linear(prefix + ".mlp.2", m_width, 4 * m_width);
    }
    std::vector<TensorInfo> take() { return std::move(m_tensors); }

private:
    DType m_matrix;
    std::int64_t m_width;
    std::vector<TensorInfo> m_tensors;
};

} // namespace

std::vector<TensorInfo> whisperTensors(const WhisperShape& s, DType matrix) {
    const std::int64_t d = s.audioState;
    TensorList list(matrix, d);
    list.vector("encoder.positional_embedding", {s.audioPositions, d});
    list.matrix("encoder.conv1.weight", {d, s.mels, 3});
    list.vector("encoder.conv1.bias", {d, 1});
    list.matrix("encoder.conv2.weight", {d, d, 3});
    list.vector("encoder.conv2.bias", {d, 1});
    for (std::int64_t i = 0; i < s.audioLayers; ++i) {
        const std::string block = base::formatted("encoder.blocks.%lld", static_cast<long long>(i));
        list.attention(block + ".attn");
        list.mlp(block);
    }
    list.norm("encoder.ln_post");
    list.vector("decoder.positional_embedding", {s.textPositions, d});
    list.matrix("decoder.token_embedding.weight", {s.vocab, d});
    for (std::int64_t i = 0; i < s.textLayers; ++i) {
        const std::string block = base::formatted("decoder.blocks.%lld", static_cast<long long>(i));
        list.attention(block + ".attn");
        list.attention(block + ".cross_attn");
        list.mlp(block);
    }
    list.norm("decoder.ln");
    return list.take();
}

std::int32_t whisperPromptTokens(const WhisperShape& shape, bool timestamps) {
    return (shape.multilingual() ? 3 : 1) + (timestamps ? 0 : 1);
}

std::int64_t whisperPositions(const WhisperShape& shape, const GraphOptions& options) {
    return options.audioPositions > 0 ? options.audioPositions : shape.audioPositions;
}

std::int64_t whisperCrossPositions(const WhisperShape& shape, const GraphOptions& options) {
    return options.crossKeep < 1.0 ? (whisperPositions(shape, options) + 1) / 2
                                   : whisperPositions(shape, options);
}

std::int64_t whisperTextPositions(const WhisperShape& shape, const GraphOptions& options) {
    const std::int64_t prompt = options.promptTokens > 0
                                    ? options.promptTokens
                                    : whisperPromptTokens(shape, options.timestamps);
    return std::min<std::int64_t>(shape.textPositions, prompt + options.maxTokens);
}

} // namespace shardscope::model
