// SPDX-License-Identifier: GPL-3.0-or-later
// The Whisper family: hyper-parameters, the tensors that a file must have, and the graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim_engine/base/result.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::model {

inline constexpr std::string_view kWhisperFamily = "whisper";

/// Hyper-parameters by their usual names.
struct WhisperShape {
    std::int64_t vocab = 0;
    std::int64_t audioPositions = 0; ///< 1500
    std::int64_t audioState = 0;     ///< d of the encoder
    std::int64_t audioHeads = 0;
    std::int64_t audioLayers = 0;
    std::int64_t textPositions = 0; ///< 448
    std::int64_t textState = 0;     ///< d of the decoder; equal to audioState
    std::int64_t textHeads = 0;
    std::int64_t textLayers = 0;
    std::int64_t mels = 0; ///< 80, or 128 for large-v3
    std::int64_t ftype = 0;

    bool multilingual() const { return vocab >= 51865; }
    std::int64_t headDim() const { return textState / textHeads; }
};

/// The shape that a card's hparams give. No check is made here: a card is checked when it is read.
WhisperShape whisperShape(const ModelCard& card);

/// Why this cannot be the shape of a Whisper model, or an empty view.
std::string_view implausible(const WhisperShape& shape);

/// Name, type and row-major shape of every tensor of such a model, in the order in which whisper
/// files keep them; offsets and bytes are left at zero. `matrix` is the type of the large matrices.
std::vector<TensorInfo> whisperTensors(const WhisperShape& shape, DType matrix);

/// Prompt tokens before the first text token: sot, language and task (multilingual models), and no
/// timestamps (unless there are to be some).
std::int32_t whisperPromptTokens(const WhisperShape& shape, bool timestamps);

/// What Op::code means in a graph of this family.
enum class WhisperOp : std::uint16_t {
    Mel,
    Conv1, ///< of the tile that has the number of the op's part, as Conv2
    Conv2,
    EncPositions, ///< a range of the table of positions
    EncQuery,     ///< with the layer norm before it, as key and value; of the part's heads
    EncKey,
    EncValue,
    EncAttention, ///< with the part's heads, as many as EncK has room for
    EncOut,
    EncFc1, ///< with the layer norm before it; of the part's tile of rows, as EncFc2
    EncFc2,
    EncFinalNorm,
    CrossKey,
    CrossValue,
    Embed,
    SelfQuery, ///< with the layer norm before it
    SelfKey,
    SelfValue,
    SelfAttention,
    SelfOut,
    CrossQuery,     ///< with the layer norm before it
    CrossAttention, ///< with the absorbed projections when cross KV is shared
    CrossOut,
    Fc1, ///< with the layer norm before it
    Fc2,
    FinalNorm,
    Logits, ///< a range of the vocabulary
};

/// The working buffers of a graph of this family, by index: BufferId(0) is Mel, and so on. After
/// kFixed come one cross KV buffer a decoder layer (none when shared) and one self KV buffer each.
enum class WhisperBuffer : std::uint32_t {
    Mel,        ///< (frames + 2) x mels f32, time-major, one row of zeros at both ends
    MelScratch, ///< working space of the mel front end
    Conv1Out,   ///< (frames + 2) x d f32, one row of zeros at both ends; or a tile of it
    EncX,       ///< positions x d f32, the residual stream; in the end the encoder's output
    EncQ,       ///< positions x d f32; attention writes its output over it
    EncK,       ///< positions x d f32, or x the dimensions of some heads
    EncV,       ///< as EncK
    EncHidden,  ///< positions x 4d f32, or a tile of rows
    EncScratch, ///< packed weights, score tiles
    EncOutput,  ///< positions x d f32 of each window of a batch, with shared cross KV
    CrossRows,  ///< positions (or fewer at a time) x d f32: K or V before they are stored
    DecX,       ///< rows x d f32: the prompt of each window, or a token of each beam
    DecNorm,    ///< rows x d f32
    DecQ,       ///< rows x d f32; attention writes its output over it
    DecRow,     ///< rows x d f32: K or V before they are stored
    DecHidden,  ///< rows x 4d f32
    DecScratch, ///< scores, and absorbed rows with shared cross KV
    Logits,     ///< rows of the largest vocabulary shard, f32, for each beam of each window
    Rows,       ///< rows of the token table and of the positions as they stand in the file
    kFixed,
};

/// The id of a fixed buffer.
inline base::BufferId whisperBuffer(WhisperBuffer b) {
    return base::BufferId(static_cast<std::uint32_t>(b));
}

/// Builds the graph; see buildGraph.
base::Result<Graph> buildWhisperGraph(const ModelCard& card, const GraphOptions& options);

/// Audio positions that a run computes, and those that cross-attention keeps.
std::int64_t whisperPositions(const WhisperShape& shape, const GraphOptions& options);
std::int64_t whisperCrossPositions(const WhisperShape& shape, const GraphOptions& options);

/// Text positions that a run can reach: prompt and tokens, at most what the model has.
std::int64_t whisperTextPositions(const WhisperShape& shape, const GraphOptions& options);

} // namespace shardscope::model
