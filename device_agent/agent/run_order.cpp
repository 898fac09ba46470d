// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/run_order.h"

#include "sim_engine/plan/knobs.h"

namespace shardscope::agent {

using Json = nlohmann::ordered_json;
using base::Error;
using base::ErrorCode;

Json toJson(const Error& e) {
    return {
        {"code", static_cast<int>(e.code)}, {"what", e.what}, {"where", e.where}, {"mend", e.mend}};
}

std::string textAt(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> numberAt(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer() || *found < 0)
        return std::nullopt;
    return found->get<std::int64_t>();
}

base::Result<RunJob> jobFromJson(const Json& request) {
    RunJob job;
    job.request.modelPath = textAt(request, "model");
    job.request.audioPath = textAt(request, "audio");
    const auto isSet = [&](const char* key) {
        const auto found = request.find(key);
        return found != request.end() && found->is_boolean() && found->get<bool>();
    };
    job.request.rawGreedy = isSet("raw_greedy");
    job.request.isCold = isSet("cold");
    if (const auto ids = request.find("prompt_ids"); ids != request.end() && ids->is_array())
        for (const Json& id : *ids) {
            if (!id.is_number_integer() || job.request.promptIds.size() >= 4096)
                return Error{
                    ErrorCode::Usage, "not a list of token ids", "prompt_ids",
                    "see the protocol beside serve"};
            job.request.promptIds.push_back(id.get<tokenizer::Token>());
        }
    if (const auto config = request.find("config"); config != request.end()) {
        auto parsed = plan::configFromJson(*config);
        if (!parsed)
            return parsed.error();
        job.config = std::move(*parsed);
        job.config.promptTokens = 0; // follows from the ids
    }
    return job;
}

} // namespace shardscope::agent
