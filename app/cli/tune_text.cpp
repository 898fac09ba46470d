// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tune_text.h"

#include <algorithm>

#include "app/cli/error_bar.h"
#include "app/cli/terminal.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using analyze::TunePoint;
using base::bytesText;
using base::formatted;
using Json = nlohmann::ordered_json;

namespace {

/// Sentences a point; the document has all of them.
constexpr std::size_t kReasons = 5;

std::string msText(double ms) {
    return base::timeText(base::Nanos(static_cast<std::int64_t>(ms * 1e6)));
}

Json pointJson(const TuneAnswer& answer, const TunePoint& point) {
    const Prediction p = predict(answer.card, point.config, answer.board, answer.workload);
    if (!p.plan)
        return nullptr; // cannot be: the search has planned it
    Json all = analyze::resultJson(p.summary, *p.plan, plan::loaderName(point.config.loader), "");
    Json json{
        {"memory", all["memory"]},
        {"timing", all["timing"]},
        {"io", all["io"]},
        {"plan", all["plan"]},
        {"config", all["config"]}};
    json["flags"] = flagsOf(point.config);
    json["why"] = point.why;
    return json;
}

Json frontJson(const TuneAnswer& answer, const std::vector<TunePoint>& front) {
    Json points = Json::array();
    for (const TunePoint& point : front)
        points.push_back(pointJson(answer, point));
    return points;
}

Json orNull(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

base::Bytes limitOf(const TuneAnswer& answer) {
    const plan::BoardProfile& board = answer.board;
    return answer.question.start.budget.value_or(board.ramTotal - board.ramReserved);
}

std::string headline(const TuneAnswer& answer) {
    std::string text =
        answer.card->name + " on " + answer.board.name + ", at most " + bytesText(limitOf(answer));
    if (!answer.question.start.budget)
        text += " (what the board has free)";
    text += formatted(
        ": %lld settings tried in %.1f s", static_cast<long long>(answer.result.tried),
        answer.seconds);
    return text + (answer.result.complete ? ".\n\n" : "; stopped before the end.\n\n");
}

} // namespace

std::string flagsOf(const plan::RunConfig& config) {
    const plan::RunConfig defaults;
    std::string text;
    for (const plan::Knob& knob : plan::knobs()) {
        std::string value = knob.print(config);
        if (value == knob.print(defaults))
            continue;
        if (knob.key == "budget_bytes" && config.budget->value % (1 << 20) == 0)
            value = std::to_string(config.budget->value >> 20) + "MiB";
        text += (text.empty() ? "" : " ") + std::string(knob.flag) + " " + value;
    }
    return text;
}

Json tuneJson(const TuneAnswer& answer) {
    const analyze::TuneQuestion& q = answer.question;
    const analyze::TuneResult& r = answer.result;
    Json fixed = Json::array();
    for (const std::string_view key : q.fixed)
        fixed.push_back(key);
    return {
        {"model", answer.card->name},
        {"board", answer.board.name},
        {"limit_bytes", limitOf(answer).value},
        {"max_ms_per_token", orNull(q.maxMsPerToken)},
        {"max_first_token_ms", orNull(q.maxFirstTokenMs)},
        {"fixed", std::move(fixed)},
        {"windows", answer.workload.windows},
        {"tried", r.tried},
        {"seconds", answer.seconds},
        {"complete", r.complete},
        {"error", answer.error},
        {"front", frontJson(answer, r.front)},
        {"first_token_front", frontJson(answer, r.firstToken)},
        {"verified", answer.verified}};
}

std::string tuneText(const TuneAnswer& answer) {
    const std::vector<TunePoint>& front = answer.result.front;
    Table table;
    table.add({"", "peak", "a token", "first token", "settings"});
    for (std::size_t i = 0; i < front.size(); ++i)
        table.add(
            {std::to_string(i + 1), bytesText(front[i].figures.peak),
             msText(front[i].figures.msPerToken), msText(front[i].figures.firstTokenMs),
             flagsOf(front[i].config)});
    std::string text = headline(answer) + table.text() + errorBarText(answer.error);
    for (std::size_t i = 0; i < front.size(); ++i) {
        if (front[i].why.empty())
            continue;
        text += formatted("\n%zu  ", i + 1) + flagsOf(front[i].config) + "\n";
        const std::size_t count = std::min<std::size_t>(front[i].why.size(), kReasons);
        for (std::size_t k = 0; k < count; ++k)
            text += "     " + front[i].why[k] + "\n";
    }
    return text;
}

std::string verifiedText(const Json& verified) {
    Table table;
    table.add(
        {"point", "run", "peak", "in the arena", "a token", "measured", "", "first token",
         "measured", ""});
    const auto signedPercent = [](const Json& share) {
        return share.is_number() ? formatted("%+.1f %%", 100 * share.get<double>()) : std::string();
    };
    for (const Json& v : verified) {
        const Json &p = v["predicted"], &m = v["measured"], &d = v["difference"];
        const auto ms = [](const Json& doc, const char* key) {
            return msText(doc["timing"][key].get<double>());
        };
        const auto bytes = [](const Json& doc, const char* key) {
            return bytesText(base::Bytes(doc["memory"][key].get<std::int64_t>()));
        };
        table.add(
            {std::to_string(v["point"].get<int>()), v["run"].get<std::string>().substr(0, 8),
             bytes(p, "planned_peak_bytes"), bytes(m, "arena_peak_bytes"),
             ms(p, "decode_ms_per_token"), ms(m, "decode_ms_per_token"),
             signedPercent(d["decode_ms_per_token"]), ms(p, "first_token_ms"),
             ms(m, "first_token_ms"), signedPercent(d["first_token_ms"])});
    }
    return table.text();
}

} // namespace shardscope::app
