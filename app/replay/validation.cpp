// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/validation.h"

#include <algorithm>
#include <cmath>

#include "app/replay/predicted_summary.h"
#include "sim_engine/analyze/median.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::array<std::string_view, kFigureCount> kNames{
    "decode_ms_per_token", "first_token_ms", "encode_ms",       "total_ms", "stall_ms",
    "bytes_read",          "peak_bytes",     "arena_peak_bytes"};
constexpr std::size_t kMostFolds = 8;
/// Pairs that are closer have no order worth knowing.
constexpr double kDiffer = 0.10;

double at(const Figures& f, Figure which) {
    return f[static_cast<std::size_t>(which)];
}
double& at(Figures& f, Figure which) {
    return f[static_cast<std::size_t>(which)];
}

Figures medians(const std::vector<Figures>& repeats) {
    Figures out{};
    for (std::size_t i = 0; i < kFigureCount; ++i) {
        std::vector<double> values;
        for (const Figures& f : repeats)
            values.push_back(f[i]);
        out[i] = analyze::median(values);
    }
    return out;
}

/// What the agent holds beside the arena, by loader: a map is not all resident.
double besideArena(const std::vector<const ValidatedConfig*>& learned, plan::Loader loader) {
    std::vector<double> same, all;
    for (const ValidatedConfig* c : learned) {
        const double rest = at(c->measured, Figure::Peak) - at(c->measured, Figure::ArenaPeak);
        all.push_back(rest);
        if (c->loader == loader)
            same.push_back(rest);
    }
    return analyze::median(same.empty() ? all : same);
}

double relativeError(const Pairing& p, std::size_t figure) {
    const double off = std::abs(p.predicted[figure] - p.measured[figure]);
    const double of = static_cast<Figure>(figure) == Figure::Stall ? at(p.measured, Figure::Total)
                                                                   : p.measured[figure];
    return off == 0 ? 0 : of > 0 ? off / of : 1;
}

ErrorFigures summed(std::vector<double> errors) {
    return {
        analyze::quantile(errors, 0.5), analyze::quantile(errors, 0.9),
        analyze::quantile(errors, 1)};
}

std::vector<const analyze::RunObservation*>
observationsOf(const std::vector<const ValidatedConfig*>& configs) {
    std::vector<const analyze::RunObservation*> all;
    for (const ValidatedConfig* c : configs)
        for (const auto& o : c->observations)
            all.push_back(&o);
    return all;
}

} // namespace

std::string_view figureName(Figure figure) {
    return kNames[static_cast<std::size_t>(figure)];
}

Figures figuresOf(const analyze::Summary& s) {
    return {
        s.decodeMsPerToken,
        s.firstTokenMs,
        s.encodeMs,
        s.totalMs,
        s.stallMs,
        static_cast<double>(s.bytesRead),
        static_cast<double>(s.rssPeak),
        static_cast<double>(s.arenaPeak)};
}

Status predictHeldOut(std::vector<ValidatedConfig>& all, const plan::BoardProfile& prior) {
    for (ValidatedConfig& c : all)
        c.measured = medians(c.repeats);
    if (all.size() < 2)
        return Error{
            ErrorCode::Usage, "one configuration alone cannot be predicted from others", "validate",
            "give a grid of two or more"};
    const std::size_t folds = std::min(all.size(), kMostFolds);
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<const ValidatedConfig*> learned;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (i % folds != fold)
                learned.push_back(&all[i]);
        auto fit = analyze::calibrate(observationsOf(learned), prior);
        if (!fit)
            return fit.error();
        for (std::size_t i = fold; i < all.size(); i += folds) {
            all[i].predicted = figuresOf(summaryOf(*all[i].plan, fit->board, all[i].workload));
            at(all[i].predicted, Figure::Peak) =
                at(all[i].predicted, Figure::ArenaPeak) + besideArena(learned, all[i].loader);
        }
    }
    return {};
}

Result<analyze::Fit>
fitToAll(const std::vector<ValidatedConfig>& all, const plan::BoardProfile& prior) {
    std::vector<const ValidatedConfig*> learned;
    for (const ValidatedConfig& c : all)
        learned.push_back(&c);
    return analyze::calibrate(observationsOf(learned), prior);
}

ValidationErrors errorsOf(const std::vector<Pairing>& pairs) {
    ValidationErrors out;
    out.configurations = pairs.size();
    for (std::size_t figure = 0; figure < kFigureCount; ++figure) {
        std::vector<double> errors;
        for (const Pairing& p : pairs)
            errors.push_back(relativeError(p, figure));
        out.figures[figure] = summed(std::move(errors));
    }
    std::size_t right = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double a = at(pairs[i].measured, Figure::MsPerToken);
            const double b = at(pairs[j].measured, Figure::MsPerToken);
            if (std::min(a, b) <= 0 || std::max(a, b) <= (1 + kDiffer) * std::min(a, b))
                continue;
            ++out.orderPairs;
            const double x = at(pairs[i].predicted, Figure::MsPerToken);
            const double y = at(pairs[j].predicted, Figure::MsPerToken);
            right += (x < y) == (a < b) && x != y;
        }
    out.orderRight =
        out.orderPairs > 0 ? static_cast<double>(right) / static_cast<double>(out.orderPairs) : 1;
    return out;
}

std::optional<ErrorFigures> noiseOf(const std::vector<ValidatedConfig>& all, Figure figure) {
    std::vector<double> off;
    for (const ValidatedConfig& c : all) {
        const Figures middle = medians(c.repeats);
        for (const Figures& f : c.repeats)
            if (c.repeats.size() > 1 && at(middle, figure) > 0)
                off.push_back(std::abs(at(f, figure) / at(middle, figure) - 1));
    }
    return off.empty() ? std::nullopt : std::optional(summed(std::move(off)));
}

Json toJson(const ErrorFigures& e) {
    const auto rounded = [](double x) { return std::round(x * 1e5) / 1e5; };
    return {{"median", rounded(e.median)}, {"p90", rounded(e.p90)}, {"worst", rounded(e.worst)}};
}

Json toJson(const ValidationErrors& e) {
    Json errors = Json::object();
    for (std::size_t figure = 0; figure < kFigureCount; ++figure)
        errors[std::string(kNames[figure])] = toJson(e.figures[figure]);
    return {
        {"configurations", e.configurations},
        {"errors", std::move(errors)},
        {"order_right", e.orderRight},
        {"order_pairs", e.orderPairs}};
}

Json toJson(const Figures& figures) {
    Json json = Json::object();
    for (std::size_t figure = 0; figure < kFigureCount; ++figure)
        json[std::string(kNames[figure])] = std::round(figures[figure] * 1e3) / 1e3;
    return json;
}

std::optional<Figures> figuresFromJson(const Json& document) {
    Figures figures{};
    if (!document.is_object())
        return std::nullopt;
    for (std::size_t i = 0; i < kFigureCount; ++i) {
        const auto found = document.find(kNames[i]);
        if (found == document.end() || !found->is_number())
            return std::nullopt;
        figures[i] = found->get<double>();
        if (!std::isfinite(figures[i]) || figures[i] < 0)
            return std::nullopt;
    }
    return figures;
}

} // namespace shardscope::app
