// SPDX-License-Identifier: GPL-3.0-or-later
// What a run does, decided before it starts. An executor performs the steps in order; it decides
// nothing. Loads are handed to the I/O thread at their step and done in their order; an op that
// uses a shard waits until its load is done.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/model/model_card.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/run_config.h"
#include "sim_engine/trace/legend.h"

namespace shardscope::plan {

/// Memory pages, and what O_DIRECT wants: places of weights in the arena keep the offset within a
/// page that the bytes have in the file, so one plan serves every loader.
inline constexpr std::int64_t kPage = 4096;

/// A contiguous piece of the model file that belongs to a shard.
struct Extent {
    base::Bytes fileOffset;
    base::Bytes bytes;
    base::Bytes place; ///< where its first byte stands, from the shard's begin in the arena
};

/// Weights that are loaded and released together.
struct Shard {
    std::string name;
    model::ShardKey key; ///< of its first op
    std::vector<Extent> extents;
    base::Bytes bytes; ///< read from the file
    base::Bytes held;  ///< held in the arena: whole pages
    bool pinned = false;
};

/// Why a step stands where it does. Values stand in traces: append only.
enum class Reason : std::uint16_t {
    PinnedForRun,    ///< stays from its first use to the end of the run
    PinnedForTokens, ///< takes the place that the encoder left, stays for the window
    Streamed,        ///< did not fit beside what is pinned: read ahead into a slot
    Missed,          ///< the cache had let it go
    SlotNeeded,      ///< evicted: its slot is the next to be filled
    LeastRecent,     ///< evicted by LRU
    MostRecent,      ///< evicted by MRU
    Drawn,           ///< evicted by the random policy
    FarthestUse,     ///< evicted by Belady's rule
    PhaseEnded,      ///< evicted: the encoder's place goes to the decoder
};
inline constexpr std::size_t kReasonCount = 10;

/// A sentence for people.
std::string_view reasonText(Reason reason);

enum class StepKind : std::uint8_t { Load, Evict, Alloc, Free, Compute };

/// `id` is a ShardId (Load, Evict), BufferId (Alloc, Free) or OpId (Compute).
struct Step {
    StepKind kind = StepKind::Compute;
    bool firstWindowOnly = false;  ///< a load that later windows find done
    bool firstOfBatchOnly = false; ///< what the other windows of a batch find done
    Reason reason = Reason::Streamed;
    std::uint32_t id = 0;
    base::BlockId block; ///< the place in the arena (Load, Evict, Alloc, Free)

    bool operator==(const Step&) const = default;
};

/// Ticks `first` to `last`, both included. Ticks number the ops of encode and cross; the whole
/// decoding of a window (prefill and steps) is one tick.
struct Life {
    std::int32_t first = 0;
    std::int32_t last = 0;
};

/// A place in the arena. It is taken during its lives, which are sorted and do not touch: a buffer
/// that is written anew in every layer gives its place to others in between.
struct Block {
    std::string name;
    model::Region region = model::Region::Activations;
    base::Bytes offset;
    base::Bytes bytes;
    std::vector<Life> lives;
};

/// Ends planning: what would be needed, what is allowed, and the nearest configuration that fits.
struct Infeasible {
    base::Bytes needed;
    base::Bytes allowed;
    std::string nearest; ///< "--budget 21MiB", or flags that fit in the given budget

    base::Error error() const;
};

struct Plan {
    RunConfig config; ///< with threads resolved, and no more tokens than the model has positions
    std::shared_ptr<const model::ModelCard> card;
    std::shared_ptr<const model::Graph> graph;
    std::vector<Shard> shards;
    std::vector<base::ShardId> shardOfOp; ///< by OpId; invalid for ops without weights
    std::vector<Block> blocks;            ///< the arena map
    std::vector<base::BlockId> blockOfBuffer;
    base::Bytes peak; ///< of the map: the size of the arena

    /// Steps of a window up to and including prefill. The first `prefillAt` of them are encode and
    /// cross, which each window of a batch goes through by itself before they are decoded together.
    std::vector<Step> window;
    std::size_t prefillAt = 0;
    /// Where the graph settles its prompt, the first batch takes these instead of its prefill: the
    /// pass of one token, and the prefill that finds buffers and pins in their places.
    std::vector<Step> settle;
    std::vector<Step> settledPrefill;
    /// Different lists of steps that decoding a token can take, and which one step t >= 1 takes.
    std::vector<std::vector<Step>> cycles;
    std::vector<std::uint32_t> cycleOfStep; ///< index t-1; as many as maxTokens - 1

    /// True where all rows of the table are resident while decoding, so none is read by itself.
    std::vector<bool> rowsResident; ///< by TensorId

    base::Bytes pinnedBytes;      ///< file bytes of pinned shards
    base::Bytes streamedPerToken; ///< read for a token in the steady state, rows included
    base::Bytes crossKvBytes;
    base::Bytes selfKvBytes;
    std::uint64_t hash = 0;

    const Shard& shard(base::ShardId id) const { return shards[id.index()]; }
    const Block& block(base::BlockId id) const { return blocks[id.index()]; }
    const std::vector<Step>& stepsOf(std::int32_t token) const {
        return cycles[cycleOfStep[static_cast<std::size_t>(token) - 1]];
    }
    std::string hashText() const;
    /// Bytes of weights that an op reads.
    base::Bytes weightBytes(const model::Op& op) const;
    /// True where the weights of an op are loaded once and stay.
    bool staysPinned(base::OpId op) const {
        const base::ShardId shard = shardOfOp[op.index()];
        return shard.valid() && shards[shard.index()].pinned;
    }
    /// Bytes of one row read of this tensor, 0 where its rows are resident.
    base::Bytes rowReadBytes(base::TensorId tensor) const;
};

/// A plan, or why there is none.
using Planned = std::variant<Plan, Infeasible>;

/// Decides a run. Pure: the same inputs give the same plan, on any machine. Usage or BadInput where
/// the knobs or the card are impossible.
base::Result<Planned> plan(
    std::shared_ptr<const model::ModelCard> card, const RunConfig& config,
    const BoardProfile& board);

/// plan(), with Infeasible turned into a DoesNotFit error.
base::Result<Plan> planOrError(
    std::shared_ptr<const model::ModelCard> card, const RunConfig& config,
    const BoardProfile& board);

/// The bytes of these parts of a model's file as `loader` brings them: a copy from the page cache
/// counts each by how long it takes.
double copiedBytes(
    std::span<const CachedFile> files, const std::string& model, Loader loader,
    std::span<const Extent> extents);

/// The names behind the numbers of a trace of this plan.
trace::Legend legendOf(const Plan& plan);

} // namespace shardscope::plan
