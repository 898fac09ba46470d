// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/tune_space.h"

#include <algorithm>

#include "sim_engine/model/graph.h"

namespace shardscope::analyze {
namespace {

using Values = std::vector<std::string>;
using Stack = model::ShardKey::Stack;

/// Layers of the encoder and the decoder; 1 where the model has no such stack.
struct Layers {
    std::int32_t encoder = 1, decoder = 1;
};

Layers layersOf(const model::ModelCard& card) {
    Layers layers;
    const auto graph = model::buildGraph(card, {});
    if (!graph)
        return layers;
    for (const model::Op& op : graph->ops) {
        if (op.key.stack == Stack::Encoder)
            layers.encoder = std::max(layers.encoder, op.key.layer + 1);
        if (op.key.stack == Stack::Decoder)
            layers.decoder = std::max(layers.decoder, op.key.layer + 1);
    }
    return layers;
}

Values granularities(std::int32_t layers) {
    Values values{"tensor", "sublayer", "1"};
    for (std::int32_t n = 2; n <= std::min(3, layers); ++n)
        values.push_back(std::to_string(n));
    return values;
}

/// Powers of two up to `most`, and `most`.
Values doublings(std::int32_t least, std::int32_t most) {
    Values values;
    for (std::int32_t n = least; n < most; n *= 2)
        values.push_back(std::to_string(n));
    values.push_back(std::to_string(most));
    return values;
}

Values threads(const plan::BoardProfile& board) {
    Values values{"auto"};
    for (const std::string& n : doublings(1, std::max(1, board.cores)))
        if (n != std::to_string(board.fastCores)) // that is what auto means
            values.push_back(n);
    return values;
}

Values kvTypes(Accuracy accuracy, bool cross) {
    Values values{"f32", "f16"};
    if (cross)
        values.push_back("shared");
    if (accuracy >= Accuracy::Near)
        values.push_back("q8");
    if (accuracy >= Accuracy::Lossy)
        values.push_back("q4");
    return values;
}

Values loaders(bool pageCache) {
    Values values{"auto", "direct", "uring"};
    if (pageCache)
        values.insert(values.end(), {"mmap", "populate", "pread"});
    return values;
}

} // namespace

std::vector<TuneKnob> tuneSpace(
    const model::ModelCard& card, const plan::BoardProfile& board, const TuneQuestion& question) {
    const Layers layers = layersOf(card);
    const std::pair<std::string_view, Values> all[] = {
        {"encoder_shard", granularities(layers.encoder)},
        {"decoder_shard", granularities(layers.decoder)},
        {"vocab_shards", {"auto", "1", "2", "4", "8", "16", "32", "64"}},
        {"policy", {"pin", "mru", "belady"}},
        {"slots", {"1", "2", "3", "4"}},
        {"loader", loaders(question.pageCache)},
        {"kv", kvTypes(question.accuracy, false)},
        {"cross_kv", kvTypes(question.accuracy, true)},
        {"cross_keep", question.accuracy >= Accuracy::Lossy ? Values{"1.0", "0.5"} : Values{"1.0"}},
        {"threads", threads(board)},
        {"batch", doublings(1, std::clamp(question.windows, 1, 64))}};
    std::vector<TuneKnob> space;
    for (const auto& [key, values] : all) {
        const plan::Knob* knob = plan::findKnob(key);
        if (!knob || std::count(question.fixed.begin(), question.fixed.end(), key) > 0)
            continue;
        space.push_back({knob, values});
        const std::string start = knob->print(question.start);
        if (std::count(values.begin(), values.end(), start) == 0)
            space.back().values.push_back(start);
    }
    return space;
}

plan::RunConfig with(plan::RunConfig config, const plan::Knob& knob, const std::string& value) {
    knob.parse(config, value);
    return config;
}

std::vector<plan::RunConfig>
neighbours(const plan::RunConfig& config, const std::vector<TuneKnob>& space) {
    std::vector<plan::RunConfig> all;
    for (const TuneKnob& k : space)
        for (const std::string& value : k.values)
            if (value != k.knob->print(config))
                all.push_back(with(config, *k.knob, value));
    return all;
}

std::int32_t changes(const plan::RunConfig& config, const std::vector<TuneKnob>& space) {
    const plan::RunConfig defaults;
    return static_cast<std::int32_t>(std::count_if(space.begin(), space.end(), [&](auto& k) {
        return k.knob->print(config) != k.knob->print(defaults);
    }));
}

} // namespace shardscope::analyze
