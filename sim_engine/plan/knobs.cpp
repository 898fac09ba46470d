// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/knobs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim_engine/base/format.h"

namespace shardscope::plan {
namespace {

using base::formatted;
using base::parseBytes;
using base::parseInteger;
using base::parseReal;
using model::Granularity;
using model::KvType;

constexpr std::array<std::string_view, 5> kPolicies{"pin", "lru", "mru", "random", "belady"};
constexpr std::array<std::string_view, 6> kLoaders{"auto",  "mmap",   "populate",
                                                   "pread", "direct", "uring"};

template <typename Enum, std::size_t N>
bool parseEnum(Enum& out, const std::array<std::string_view, N>& names, std::string_view text) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end())
        return false;
    out = static_cast<Enum>(found - names.begin());
    return true;
}

bool parseGranularity(Granularity& out, std::string_view text) {
    if (text == "tensor" || text == "sublayer") {
        out = {text == "tensor" ? Granularity::Kind::Tensor : Granularity::Kind::Sublayer, 1};
        return true;
    }
    const auto n = parseInteger(text);
    if (!n || *n < 1 || *n > 256)
        return false;
    out = {Granularity::Kind::Layers, static_cast<std::int32_t>(*n)};
    return true;
}

std::string printGranularity(const Granularity& g) {
    switch (g.kind) {
    case Granularity::Kind::Tensor:
        return "tensor";
    case Granularity::Kind::Sublayer:
        return "sublayer";
    case Granularity::Kind::Layers:
        break;
    }
    return std::to_string(g.layers);
}

bool parseCount(std::int32_t& out, std::string_view text, std::int64_t low, std::int64_t high) {
    const auto n = parseInteger(text);
    if (!n || *n < low || *n > high)
        return false;
    out = static_cast<std::int32_t>(*n);
    return true;
}

/// A count for which a word means 0.
bool parseCountOr(
    std::int32_t& out, std::string_view word, std::string_view text, std::int64_t high) {
    if (text == word) {
        out = 0;
        return true;
    }
    return parseCount(out, text, 1, high);
}

bool parseLimit(std::optional<base::Bytes>& out, std::string_view text) {
    if (text == "none") {
        out.reset();
        return true;
    }
    const auto bytes = parseBytes(text);
    if (!bytes || bytes->value == 0)
        return false;
    out = *bytes;
    return true;
}

std::string printLimit(const std::optional<base::Bytes>& limit) {
    return limit ? std::to_string(limit->value) : "none";
}

bool parsePin(PinChoice& out, std::string_view text) {
    using Kind = PinChoice::Kind;
    if (text == "auto" || text == "none" || text == "all") {
        out = {text == "auto" ? Kind::Auto : text == "none" ? Kind::None : Kind::All, {}};
        return true;
    }
    const auto bytes = parseBytes(text);
    if (bytes)
        out = {Kind::Bytes, *bytes};
    return bytes.has_value();
}

std::string printPin(const PinChoice& pin) {
    switch (pin.kind) {
    case PinChoice::Kind::Auto:
        return "auto";
    case PinChoice::Kind::None:
        return "none";
    case PinChoice::Kind::All:
        return "all";
    case PinChoice::Kind::Bytes:
        break;
    }
    return std::to_string(pin.bytes.value);
}

bool parseKv(KvType& out, std::string_view text, bool cross) {
    const auto type = model::kvTypeByName(text);
    if (!type || (*type == KvType::Shared && !cross))
        return false;
    out = *type;
    return true;
}

constexpr std::int32_t kMostSlots = 1024;

constexpr std::array<Knob, 19> kKnobs{{
    {"--budget", "budget_bytes", "Budget", "bytes, 90MiB, 90MB or none",
     "Bounds the arena and mapped weights; a run that cannot keep it does not start.",
     [](RunConfig& c, std::string_view t) { return parseLimit(c.budget, t); },
     [](const RunConfig& c) { return printLimit(c.budget); }},
    {"--encoder-shard", "encoder_shard", "Encoder shard", "tensor, sublayer or a number of layers",
     "How much of the encoder is loaded and released together.",
     [](RunConfig& c, std::string_view t) { return parseGranularity(c.encoderShard, t); },
     [](const RunConfig& c) { return printGranularity(c.encoderShard); }},
    {"--decoder-shard", "decoder_shard", "Decoder shard", "tensor, sublayer or a number of layers",
     "How much of the decoder is loaded and released together.",
     [](RunConfig& c, std::string_view t) { return parseGranularity(c.decoderShard, t); },
     [](const RunConfig& c) { return printGranularity(c.decoderShard); }},
    {"--vocab-shards", "vocab_shards", "Vocabulary shards", "a number or auto",
     "Pieces of the token table for the logits; auto makes them as large as a decoder shard.",
     [](RunConfig& c, std::string_view t) { return parseCountOr(c.vocabShards, "auto", t, 8192); },
     [](const RunConfig& c) {
         return c.vocabShards ? std::to_string(c.vocabShards) : std::string("auto");
     }},
    {"--pin", "pin", "Pinned weights", "auto, none, all or bytes",
     "Weights that stay resident beside the slots; auto takes all that the budget leaves.",
     [](RunConfig& c, std::string_view t) { return parsePin(c.pin, t); },
     [](const RunConfig& c) { return printPin(c.pin); }},
    {"--policy", "policy", "Policy", "pin, lru, mru, random or belady",
     "What stays: a fixed set beside streaming slots, or a cache that evicts by this rule.",
     [](RunConfig& c, std::string_view t) { return parseEnum(c.policy, kPolicies, t); },
     [](const RunConfig& c) { return std::string(policyName(c.policy)); }},
    {"--slots", "slots", "Slots", "1 on demand, 2 double buffer, ...",
     "Streaming buffers: with two or more the next shard is read while one computes.",
     [](RunConfig& c, std::string_view t) { return parseCount(c.slotCount, t, 1, kMostSlots); },
     [](const RunConfig& c) { return std::to_string(c.slotCount); }},
    {"--loader", "loader", "Loader", "auto, mmap, populate, pread, direct or uring",
     "How weights are read; auto takes the best that works here.",
     [](RunConfig& c, std::string_view t) { return parseEnum(c.loader, kLoaders, t); },
     [](const RunConfig& c) { return std::string(loaderName(c.loader)); }},
    {"--kv", "kv", "Self KV", "f32, f16, q8 or q4", "How self-attention keys and values are kept.",
     [](RunConfig& c, std::string_view t) { return parseKv(c.kv, t, false); },
     [](const RunConfig& c) { return std::string(model::kvTypeName(c.kv)); }},
    {"--cross-kv", "cross_kv", "Cross KV", "f32, f16, q8, q4 or shared",
     "How cross-attention keys and values are kept; shared keeps the encoder output once.",
     [](RunConfig& c, std::string_view t) { return parseKv(c.crossKv, t, true); },
     [](const RunConfig& c) { return std::string(model::kvTypeName(c.crossKv)); }},
    {"--cross-keep", "cross_keep", "Cross keep", "1.0 or 0.5",
     "The share of audio positions that cross-attention sees: memory against accuracy.",
     [](RunConfig& c, std::string_view t) {
         const auto x = parseReal(t);
         if (!x || (*x != 1.0 && *x != 0.5))
             return false;
         c.crossKeep = *x;
         return true;
     },
     [](const RunConfig& c) { return formatted("%.1f", c.crossKeep); }},
    {"--threads", "threads", "Threads", "a number, or auto for the fast cores",
     "Threads that compute; the result does not depend on them.",
     [](RunConfig& c, std::string_view t) { return parseCountOr(c.threads, "auto", t, 256); },
     [](const RunConfig& c) {
         return c.threads ? std::to_string(c.threads) : std::string("auto");
     }},
    {"--batch", "batch", "Batch", "a number of windows", "Windows that are decoded together.",
     [](RunConfig& c, std::string_view t) { return parseCount(c.batch, t, 1, 64); },
     [](const RunConfig& c) { return std::to_string(c.batch); }},
    {"--beam", "beam", "Beam", "1 is greedy, up to 8",
     "Sequences that are followed side by side in each window; the most probable one is kept.",
     [](RunConfig& c, std::string_view t) { return parseCount(c.beam, t, 1, kMostBeams); },
     [](const RunConfig& c) { return std::to_string(c.beam); }},
    {"--language", "language", "Language", "a code such as en, or auto",
     "The language that is spoken; auto takes what the model hears in the first 30 seconds.",
     [](RunConfig& c, std::string_view t) {
         const bool word =
             t.size() >= 2 && t.size() <= 4 &&
             std::all_of(t.begin(), t.end(), [](char x) { return x >= 'a' && x <= 'z'; });
         if (word)
             c.language = t;
         return word;
     },
     [](const RunConfig& c) { return c.language; }},
    {"--timestamps", "timestamps", "Timestamps", "on or off",
     "Whether the text comes in segments with their times.",
     [](RunConfig& c, std::string_view t) {
         c.timestamps = t == "on";
         return t == "on" || t == "off";
     },
     [](const RunConfig& c) { return std::string(c.timestamps ? "on" : "off"); }},
    {"--max-tokens", "max_tokens", "Most tokens", "a number", "Tokens of a window at the most.",
     [](RunConfig& c, std::string_view t) { return parseCount(c.maxTokens, t, 1, 4096); },
     [](const RunConfig& c) { return std::to_string(c.maxTokens); }},
    {"--audio-ctx", "audio_ctx", "Audio context", "a number of positions, or full",
     "Positions that the encoder computes; a short one loses the end of the window.",
     [](RunConfig& c, std::string_view t) { return parseCountOr(c.audioCtx, "full", t, 65536); },
     [](const RunConfig& c) {
         return c.audioCtx ? std::to_string(c.audioCtx) : std::string("full");
     }},
    {"--emulate-read", "emulate_read", "Emulated read", "bytes a second, e.g. 50MB/s, or none",
     "Throttles reads to imitate a slow device.",
     [](RunConfig& c, std::string_view t) { return parseLimit(c.emulateRead, t); },
     [](const RunConfig& c) { return printLimit(c.emulateRead); }},
}};

} // namespace

std::string_view policyName(Policy policy) {
    return kPolicies[static_cast<std::size_t>(policy)];
}

std::string_view loaderName(Loader loader) {
    return kLoaders[static_cast<std::size_t>(loader)];
}

std::span<const Knob> knobs() {
    return kKnobs;
}

const Knob* findKnob(std::string_view flagOrKey) {
    for (const Knob& knob : kKnobs)
        if (knob.flag == flagOrKey || knob.key == flagOrKey)
            return &knob;
    return nullptr;
}

base::Status setKnob(RunConfig& config, std::string_view flagOrKey, std::string_view text) {
    const Knob* knob = findKnob(flagOrKey);
    if (!knob)
        return base::Error{
            base::ErrorCode::Usage, "there is no such knob", std::string(flagOrKey), "see --help"};
    RunConfig changed = config;
    if (!knob->parse(changed, text))
        return base::Error{
            base::ErrorCode::Usage,
            formatted(
                "\"%.*s\" is not possible",
                static_cast<int>(std::min<std::size_t>(text.size(), 60)), text.data()),
            std::string(knob->flag), "give " + std::string(knob->values)};
    config = std::move(changed);
    return {};
}

} // namespace shardscope::plan
