// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::plan {

using Json = nlohmann::ordered_json;

namespace {

/// Numbers, booleans and null where JSON has them, the words of the knob elsewhere.
Json valueOf(const Knob& knob, const RunConfig& config) {
    const std::string text = knob.print(config);
    if (text == "none" && (knob.key == "budget_bytes" || knob.key == "emulate_read"))
        return nullptr;
    if (knob.key == "timestamps")
        return config.timestamps;
    const bool isWord =
        knob.key == "encoder_shard" || knob.key == "decoder_shard" || knob.key == "language";
    if (!isWord)
        if (const auto n = base::parseInteger(text))
            return *n;
    if (knob.key == "cross_keep")
        return config.crossKeep;
    return text;
}

/// The text that the knob's parser takes for a JSON value.
std::optional<std::string> textOf(const Json& value) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_null())
        return "none";
    if (value.is_boolean())
        return value.get<bool>() ? "on" : "off";
    if (value.is_number_integer())
        return std::to_string(value.get<std::int64_t>());
    if (value.is_number_float())
        return base::formatted("%.17g", value.get<double>());
    return std::nullopt;
}

constexpr const char* kPromptTokens = "prompt_tokens";
constexpr const char* kUsefulRead = "useful_read_bytes";

} // namespace

Json toJson(const RunConfig& config) {
    Json document = Json::object();
    for (const Knob& knob : knobs())
        document[std::string(knob.key)] = valueOf(knob, config);
    if (config.promptTokens > 0)
        document[kPromptTokens] = config.promptTokens;
    if (config.usefulRead && config.usefulRead->value > 0)
        document[kUsefulRead] = config.usefulRead->value;
    return document;
}

base::Result<RunConfig> configFromJson(const Json& document) {
    const auto usage = [](std::string what, std::string where) {
        return base::Error{
            base::ErrorCode::Usage, std::move(what), std::move(where),
            "see `shardscope-agent run --help` for the knobs"};
    };
    if (!document.is_object())
        return usage("the configuration is no JSON object", "config");
    RunConfig config;
    for (const auto& [key, value] : document.items()) {
        const auto text = textOf(value);
        if (key == kPromptTokens && value.is_number_integer()) {
            const auto n = value.get<std::int64_t>();
            if (n < 0 || n > 4096)
                return usage("an impossible number of prompt tokens", key);
            config.promptTokens = static_cast<std::int32_t>(n);
            continue;
        }
        if (key == kUsefulRead && value.is_number_integer()) {
            const auto n = value.get<std::int64_t>();
            if (n < 0 || n > std::int64_t{1} << 40)
                return usage("an impossible size of a read", key);
            config.usefulRead = base::Bytes(n);
            continue;
        }
        const Knob* knob = findKnob(key);
        if (!knob || knob->key != key)
            return usage("there is no such knob", key);
        if (!text)
            return usage("a value of the wrong kind", key);
        if (base::Status status = setKnob(config, key, *text); !status)
            return status.error();
    }
    return config;
}

} // namespace shardscope::plan
