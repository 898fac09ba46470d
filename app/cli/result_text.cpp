// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/result_text.h"

#include <array>
#include <vector>

#include <QTime>

#include "app/cli/terminal.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;
using base::Bytes;
using base::formatted;

namespace {

enum class Unit { Millis, Bytes, Count, Share };

struct Figure {
    const char* name;
    const char* group;
    const char* key;
    Unit unit;
};

constexpr std::array<Figure, 14> kFigures{{
    {"planned peak", "memory", "planned_peak_bytes", Unit::Bytes},
    {"arena peak", "memory", "arena_peak_bytes", Unit::Bytes},
    {"RSS peak", "memory", "rss_peak_bytes", Unit::Bytes},
    {"mel", "timing", "mel_ms", Unit::Millis},
    {"encode", "timing", "encode_ms", Unit::Millis},
    {"cross KV", "timing", "cross_kv_ms", Unit::Millis},
    {"first token", "timing", "first_token_ms", Unit::Millis},
    {"decode a token", "timing", "decode_ms_per_token", Unit::Millis},
    {"total", "timing", "total_ms", Unit::Millis},
    {"bytes read", "io", "bytes_read", Unit::Bytes},
    {"reads", "io", "reads", Unit::Count},
    {"stalls", "io", "stall_ms", Unit::Millis},
    {"hidden reads", "io", "hidden_fraction", Unit::Share},
    {"streamed a token", "plan", "streamed_bytes_per_token", Unit::Bytes},
}};

/// A number of a document; none where it has none of that name.
std::optional<double> number(const Json& document, const char* group, const char* key) {
    if (!document.is_object() || !document.contains(group))
        return std::nullopt;
    const Json& in = document[group];
    if (!in.is_object() || !in.contains(key) || !in[key].is_number())
        return std::nullopt;
    return in[key].get<double>();
}

std::string text(double value, Unit unit) {
    switch (unit) {
    case Unit::Millis:
        return formatted("%.2f ms", value);
    case Unit::Bytes:
        return base::bytesText(Bytes(static_cast<std::int64_t>(value)));
    case Unit::Count:
        return formatted("%.0f", value);
    case Unit::Share:
        break;
    }
    return formatted("%.0f %%", value * 100);
}

std::string change(double before, double after, Unit unit) {
    if (before == after)
        return "same";
    if (unit == Unit::Share) // a share of a share says nothing
        return formatted("%+.0f points", (after - before) * 100);
    if (before == 0)
        return "";
    return formatted("%+.1f %%", (after / before - 1) * 100);
}

/// Without the spaces around it: models begin a text with one.
std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \n");
    return first == std::string::npos
               ? std::string()
               : text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

std::string plainText(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// What was said: a line for each segment where there are times.
std::string wordsOf(const Json& result) {
    const auto segments = result.find("segments");
    if (segments != result.end() && segments->is_array() && !segments->empty()) {
        const auto time = [](const Json& segment, const char* key) {
            const auto found = segment.find(key);
            const bool known = found != segment.end() && found->is_number_integer();
            const int ms = known ? found->get<int>() : 0;
            return QTime::fromMSecsSinceStartOfDay(ms).toString("HH:mm:ss.zzz").toStdString();
        };
        std::string lines;
        for (const Json& s : *segments)
            if (s.is_object() && s.contains("text") && s["text"].is_string())
                lines += "[" + time(s, "start_ms") + " --> " + time(s, "end_ms") + "] " +
                         trimmed(s["text"].get<std::string>()) + "\n";
        return lines + "\n";
    }
    const auto words = result.find("text");
    if (words == result.end() || !words->is_string())
        return {};
    const std::string text = trimmed(words->get<std::string>());
    return text.empty() ? text : text + "\n\n";
}

} // namespace

std::string resultText(const Json& result) {
    Table table;
    if (const auto budget = number(result, "memory", "budget_bytes"))
        table.add({"budget", text(*budget, Unit::Bytes)});
    for (const Figure& figure : kFigures) {
        const auto value = number(result, figure.group, figure.key);
        const bool unsampled = value == 0.0 && figure.unit == Unit::Bytes;
        if (value && !unsampled)
            table.add({figure.name, text(*value, figure.unit)});
    }
    const Json empty = Json::object();
    const Json& plan = result.contains("plan") ? result["plan"] : empty;
    if (plan.contains("shards") && plan.contains("pinned_bytes") && plan.contains("hash"))
        table.add(
            {"plan", plan["shards"].dump() + " shards, " +
                         base::bytesText(Bytes(plan["pinned_bytes"].get<std::int64_t>())) +
                         " pinned, " + plainText(plan["hash"])});
    if (const auto tokens = result.find("n_tokens"); tokens != result.end())
        table.add({"tokens", tokens->dump()});
    return wordsOf(result) + table.text();
}

std::vector<FigureDelta> compareResults(const Json& before, const Json& after) {
    std::vector<FigureDelta> all;
    for (const Figure& figure : kFigures) {
        const auto a = number(before, figure.group, figure.key);
        const auto b = number(after, figure.group, figure.key);
        if (a || b)
            all.push_back(
                {figure.name, a ? text(*a, figure.unit) : "-", b ? text(*b, figure.unit) : "-",
                 a && b ? change(*a, *b, figure.unit) : ""});
    }
    const Json empty = Json::object();
    const Json& first = before.contains("config") ? before["config"] : empty;
    const Json& second = after.contains("config") ? after["config"] : empty;
    for (const auto& [key, value] : second.items())
        if (!first.contains(key) || first[key] != value)
            all.push_back(
                {key, first.contains(key) ? plainText(first[key]) : "-", plainText(value), ""});
    return all;
}

} // namespace shardscope::app
