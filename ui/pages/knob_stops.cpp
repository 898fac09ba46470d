// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/knob_stops.h"

#include <algorithm>
#include <cmath>

#include "ui/pages/knob_controls.h"

namespace shardscope::ui {
namespace {

/// Whole MiB, in steps that give a slider about 100 places, up to `most`.
std::vector<std::string> memoryStops(base::Bytes most) {
    // Small models need finer steps than a MiB.
    std::int64_t step = 256 << 10;
    while (step * 110 < most.value)
        step *= 2;
    std::vector<std::string> stops;
    for (std::int64_t at = step; at < most.value + step; at += step)
        stops.push_back(std::to_string(at));
    return stops;
}

std::vector<std::string> shardStops(std::int64_t layers) {
    std::vector<std::string> stops = {"tensor", "sublayer"};
    for (std::int64_t n = 1; n <= std::max<std::int64_t>(1, layers); ++n)
        stops.push_back(std::to_string(n));
    return stops;
}

/// 1 MB/s to 5 GB/s, 12 stops a decade, rounded to two digits; then none.
std::vector<std::string> rateStops() {
    std::vector<std::string> stops;
    for (int i = 0; i <= 44; ++i) {
        const double rate = 1e6 * std::pow(10.0, i / 12.0);
        const double digit = std::pow(10.0, std::floor(std::log10(rate)) - 1);
        stops.push_back(std::to_string(std::llround(std::round(rate / digit) * digit)));
    }
    stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
    stops.emplace_back("none");
    return stops;
}

std::vector<std::string> counts(int most, const char* first = nullptr) {
    std::vector<std::string> stops;
    if (first)
        stops.emplace_back(first);
    for (int n = 1; n <= most; ++n)
        stops.push_back(std::to_string(n));
    return stops;
}

/// Every 100 positions, the last of them all.
std::vector<std::string> audioStops(std::int64_t positions) {
    std::vector<std::string> stops;
    for (std::int64_t at = 100; at < positions; at += 100)
        stops.push_back(std::to_string(at));
    stops.emplace_back("full");
    return stops;
}

/// 8, 16, ... up to what the model has positions for, 224 among them.
std::vector<std::string> tokenStops(std::int64_t positions) {
    std::vector<std::string> stops;
    for (std::int64_t at = 8; at <= std::max<std::int64_t>(224, positions / 2); at += 8)
        stops.push_back(std::to_string(at));
    return stops;
}

} // namespace

std::vector<std::string> knobChoices(const plan::Knob& knob) {
    for (const std::string_view key :
         {"kv", "cross_kv", "cross_keep", "policy", "loader", "timestamps"})
        if (knob.key == key)
            return knobWords(knob);
    if (knob.key == "language") // those that are heard most, in the order of their codes
        return {"auto", "ar", "de", "en", "es", "fr", "hi", "it", "ja",
                "ko",   "nl", "pl", "pt", "ru", "tr", "uk", "zh"};
    return {};
}

std::vector<std::string> knobStops(
    std::string_view key, const model::ModelCard& card, const plan::BoardProfile& board,
    base::Bytes everything) {
    if (key == "budget_bytes") {
        auto stops = memoryStops(everything);
        stops.emplace_back("none");
        return stops;
    }
    if (key == "pin") {
        std::vector<std::string> stops = {"none"};
        for (auto& stop : memoryStops(card.weightBytes()))
            stops.push_back(std::move(stop));
        stops.emplace_back("all");
        stops.emplace_back("auto");
        return stops;
    }
    if (key == "decoder_shard")
        return shardStops(card.hparam("n_text_layer"));
    if (key == "encoder_shard")
        return shardStops(card.hparam("n_audio_layer"));
    if (key == "slots")
        return counts(8);
    if (key == "vocab_shards")
        return counts(32, "auto");
    if (key == "batch")
        return counts(16);
    if (key == "beam")
        return counts(8);
    if (key == "max_tokens")
        return tokenStops(card.hparam("n_text_ctx"));
    if (key == "audio_ctx")
        return audioStops(card.hparam("n_audio_ctx"));
    if (key == "threads")
        return counts(board.cores, "auto");
    if (key == "emulate_read")
        return rateStops();
    return {};
}

} // namespace shardscope::ui
