// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"

namespace shardscope::plan {

/// How much stays resident beside the streaming slots.
struct PinChoice {
    enum class Kind : std::uint8_t { Auto, None, All, Bytes };
    Kind kind = Kind::Auto;
    base::Bytes bytes; ///< for Kind::Bytes

    bool operator==(const PinChoice&) const = default;
};

enum class Policy : std::uint8_t { Pin, Lru, Mru, Random, Belady };

enum class Loader : std::uint8_t { Auto, Mmap, Populate, Pread, Direct, Uring };

/// The widest beam search.
inline constexpr std::int32_t kMostBeams = 8;

/// The value of `language` for which the model finds out.
inline constexpr std::string_view kAutoLanguage = "auto";

/// Every knob of a run, with its default. The words for them stand in knobs.h.
struct RunConfig {
    std::optional<base::Bytes> budget; ///< none: as much as it takes
    model::Granularity encoderShard;
    model::Granularity decoderShard;
    std::int32_t vocabShards = 0; ///< 0: auto
    PinChoice pin;
    Policy policy = Policy::Pin;
    std::int32_t slotCount = 2; ///< `slots` is a macro of Qt
    Loader loader = Loader::Auto;
    model::KvType kv = model::KvType::F16;
    model::KvType crossKv = model::KvType::F16;
    double crossKeep = 1.0;
    std::int32_t threads = 0; ///< 0: the fast cores of the board
    std::int32_t batch = 1;
    std::int32_t beam = 1; ///< sequences that are followed in each window
    std::string language = "en";
    bool timestamps = false;
    std::int32_t maxTokens = 224;
    std::int32_t audioCtx = 0;              ///< 0: all positions of the model
    std::optional<base::Bytes> emulateRead; ///< bytes per second
    std::int32_t promptTokens = 0;          ///< 0: the usual prompt of the model; not a knob
    /// Reads of fewer bytes are merged (see mergeReads()); none: as the profile of the board has it;
    /// 0, or where that has measured no reads: as typical storage, and in the encoder alone. Not a
    /// knob: whoever has a plan made by another machine says it (see withUsefulRead()).
    std::optional<base::Bytes> usefulRead;

    bool operator==(const RunConfig&) const = default;
};

std::string_view policyName(Policy policy);
std::string_view loaderName(Loader loader);

} // namespace shardscope::plan
