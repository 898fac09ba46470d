// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tune_verify.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/run_headless.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

/// What the simulator says of a run that was just made: as many tokens, the same plan.
Json predictedOf(const TuneAnswer& answer, const plan::RunConfig& config, const RunDocument& run) {
    const std::int32_t windows = std::max(1, run.windows());
    const std::int32_t tokens = std::max(1, (run.tokens() + windows - 1) / windows);
    const Prediction p = predict(answer.card, config, answer.board, {tokens, windows});
    if (!p.plan)
        return nullptr;
    return analyze::resultJson(p.summary, *p.plan, plan::loaderName(config.loader), "");
}

/// By what share the measured time is above the predicted one; null where there is no such time.
Json difference(const Json& predicted, const Json& measured, const char* key) {
    const double before = predicted["timing"].value(key, 0.0);
    const double after = measured["timing"].value(key, 0.0);
    return before > 0 && after > 0 ? Json(after / before - 1) : Json(nullptr);
}

Json compared(std::size_t point, const std::string& run, Json predicted, Json measured) {
    Json differences = Json::object();
    for (const char* key : {"encode_ms", "first_token_ms", "decode_ms_per_token", "total_ms"})
        differences[key] = difference(predicted, measured, key);
    Json json{{"point", point}, {"run", run}};
    for (auto& [name, doc] : {std::pair{"predicted", &predicted}, {"measured", &measured}})
        json[name] = {
            {"timing", (*doc)["timing"]}, {"memory", (*doc)["memory"]}, {"io", (*doc)["io"]}};
    json["difference"] = std::move(differences);
    return json;
}

} // namespace

Status verify(const Verification& what, RunStore* store, TuneAnswer& answer) {
    answer.verified = Json::array();
    const auto& front = answer.result.front;
    const auto count = std::min(static_cast<std::size_t>(what.count), front.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (!what.part.has(what.firstItem + i))
            continue;
        const std::size_t point = front.size() - 1 - i; // the fastest stands last
        std::fprintf(
            stderr, "shardscope: running point %zu on %s\n", point + 1, what.board.c_str());
        RunOrder order;
        order.board = QString::fromStdString(what.board);
        order.model = QString::fromStdString(what.model);
        order.audio = QString::fromStdString(what.audio);
        order.config = front[point].config;
        order.profile = answer.board;
        RunDocument document;
        if (const auto error = runToEnd(store, order, document, what.way))
            return *error;
        if (document.state() == RunState::Stopped || document.result().is_null())
            return Error{
                ErrorCode::Failed, "stopped before its end", "run of a point", "start it again"};
        Json predicted = predictedOf(answer, front[point].config, document);
        answer.verified.push_back(compared(
            point + 1, document.uuid().toStdString(), std::move(predicted), document.result()));
    }
    return {};
}

} // namespace shardscope::app
