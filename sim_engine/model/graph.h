// SPDX-License-Identifier: GPL-3.0-or-later
// What a model computes, told without knowing the model: passes of ops over tensors and buffers.
// Planner, simulator and views know this and no family; a family builds it in one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/kv_type.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::model {

/// What a piece of the arena holds; the colour of a rectangle. Values stand in traces: append only.
enum class Region : std::uint8_t {
    PinnedWeights,
    StreamSlots,
    SelfKv,
    CrossKv,
    Activations,
    Audio,
    Scratch,
};
inline constexpr std::size_t kRegionCount = 7;

/// "pinned weights", "streaming slots", ...
std::string_view regionName(Region region);

/// The passes of a run, in the order in which they first happen. Values stand in traces.
enum class PassKind : std::uint8_t { Encode, Cross, Prefill, Decode };
inline constexpr std::size_t kPassCount = 4;

/// "encode", "cross", "prefill", "decode".
std::string_view passName(PassKind kind);

/// What bounds an op, and so which rate of a BoardProfile it is timed with.
enum class OpKind : std::uint8_t { Mel, MatMul, MatVec, Attention, Vector, RowGather };
inline constexpr std::size_t kOpKindCount = 6;

/// "mel", "matmul", "matvec", ...
std::string_view opKindName(OpKind kind);

/// Rows [firstRow, firstRow + rowCount) of a tensor.
struct WeightUse {
    base::TensorId tensor;
    std::int64_t firstRow = 0;
    std::int64_t rowCount = 0;
};

/// Work of one op. Totals for one token (or one window in encode and cross): the part that does not
/// depend on the position, and the part that grows with each position already in the KV cache.
struct OpCost {
    double flops = 0;
    double flopsPerPosition = 0;
    double stateBytes = 0; ///< read from buffers that outlive the op (KV), beside the weights
    double stateBytesPerPosition = 0;
};

/// Weights with equal keys may share a shard; the granularity knobs merge keys.
struct ShardKey {
    /// Encoder and Cross are used once a window, Decoder and Vocabulary once a token; Rows is read
    /// row by row unless all of it is resident.
    enum class Stack : std::uint8_t { Encoder, Cross, Decoder, Vocabulary, Rows };
    Stack stack = Stack::Encoder;
    std::int32_t layer = 0; ///< -1: what stands before the first layer
    std::int32_t sublayer = 0;
    std::int32_t part = 0; ///< the matrix within the sublayer

    auto operator<=>(const ShardKey&) const = default;
};

/// One op: the smallest thing that is planned, traced and timed.
struct Op {
    std::string name;       ///< "decoder.2.cross.out"
    std::uint16_t code = 0; ///< what the family's engine does here
    OpKind kind = OpKind::Vector;
    DType dtype = DType::F32; ///< of the matrix, where there is one
    ShardKey key;
    std::int32_t part = 0;                ///< where work is cut into several ops: which of them
    std::vector<WeightUse> weights;       ///< resident when the op runs
    std::vector<base::TensorId> rowReads; ///< one row of each is fetched for each token
    std::vector<std::int64_t> rowCounts;  ///< of each such table: its first rows that a run reaches
    bool lastTokenOnly = false;           ///< works on one token even in prefill
    std::vector<base::BufferId> reads;
    std::vector<base::BufferId> writes;
    OpCost cost;
};

/// A working buffer. It lives from the first op that touches it to the last one, over all passes;
/// what a decode step touches lives until the last token.
struct Buffer {
    std::string name;
    Region region = Region::Activations;
    base::Bytes bytes;
    /// Filled window by window of a batch, so it lives from the first one's encoding on.
    bool keptOverBatch = false;
};

struct Pass {
    PassKind kind = PassKind::Encode;
    std::vector<base::OpId> ops; ///< Prefill and Decode run the same ops
};

struct Graph {
    std::vector<Buffer> buffers;
    std::vector<Op> ops;
    std::vector<Pass> passes; ///< indexed by PassKind
    std::int32_t promptTokens = 0;
    /// The first window has a pass of the prompt's first token alone, which settles what the rest
    /// of the prompt is (the language).
    bool settlesPrompt = false;
    std::int32_t batch = 1;      ///< windows that are decoded together, at the most
    std::int32_t beam = 1;       ///< sequences that are followed in each, at the most
    std::int32_t mostTokens = 0; ///< that a window can have: the last one has no position left

    const Op& op(base::OpId id) const { return ops[id.index()]; }
    const Pass& pass(PassKind kind) const { return passes[static_cast<std::size_t>(kind)]; }
    const Buffer& buffer(base::BufferId id) const { return buffers[id.index()]; }
};

/// How much of a model goes into one shard.
struct Granularity {
    enum class Kind : std::uint8_t { Tensor, Sublayer, Layers };
    Kind kind = Kind::Layers;
    std::int32_t layers = 1;

    bool operator==(const Granularity&) const = default;
};

/// Ways to need less working space. What is computed keeps its bits; time gives way.
struct Thrift {
    bool scratch = false;   ///< products pack as few columns at a time as they can
    bool stem = false;      ///< what stands before the layers goes by tiles of positions
    bool attention = false; ///< the encoder attends with some heads after the other
    bool mlp = false;       ///< the encoder's MLP goes by tiles of positions
};

/// The choices of a run that change what is computed or how large the buffers are.
struct GraphOptions {
    KvType selfKv = KvType::F16;
    KvType crossKv = KvType::F16;
    double crossKeep = 1.0;
    std::int32_t audioPositions = 0; ///< 0: all that the model has
    std::int32_t maxTokens = 224;
    std::int32_t promptTokens = 0; ///< 0: the family's usual prompt
    bool timestamps = false;       ///< the usual prompt asks for times
    bool detectLanguage = false;   ///< the model finds out which language is spoken
    std::int32_t vocabShards = 0;  ///< 0: about the size of the largest decoder shard
    std::int32_t batch = 1;        ///< windows that are decoded together
    std::int32_t beam = 1;         ///< sequences that are followed in each window
    std::int32_t threads = 1;
    Granularity decoder;
    Thrift thrift; ///< not a knob: the planner's last resort
};

/// The graph of a card, by its family. BadInput where the card lacks what its family needs, Usage
/// where an option is impossible for this model.
base::Result<Graph> buildGraph(const ModelCard& card, const GraphOptions& options);

} // namespace shardscope::model
