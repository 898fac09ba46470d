// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/tune_reasons.h"

#include <algorithm>
#include <cmath>

#include "sim_engine/base/format.h"

namespace shardscope::analyze {
namespace {

using base::Bytes;
using base::bytesText;
using base::formatted;
using plan::RunConfig;

/// Less than this share is not worth a sentence.
constexpr double kWorthSaying = 0.03;

/// A sentence with its weight, for sorting.
struct Reason {
    double weight = 0;
    std::string text;
};

std::string percent(double share) {
    return formatted("%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
}

/// "18 % slower a token", "the first token 30 % later"; empty where both are alike.
std::string comparison(double token, double first) {
    const auto differs = [](double ratio) { return std::abs(std::log(ratio)) >= kWorthSaying; };
    std::string text;
    if (differs(token))
        text = token > 1 ? percent(token - 1) + " slower a token"
                         : percent(1 - token) + " faster a token";
    if (differs(first)) {
        text += text.empty() ? "as fast a token, " : ", ";
        text += "the first one " +
                (first > 1 ? percent(first - 1) + " later" : percent(1 - first) + " sooner");
    }
    return text;
}

double ratio(double a, double b) {
    return std::max(a, 1e-9) / std::max(b, 1e-9);
}

/// Explains one point.
class Explainer {
public:
    Explainer(const TunePoint& point, const std::vector<TuneKnob>& space, TuneMemo& memo)
        : m_point(point), m_space(space), m_memo(memo) {}

    std::vector<std::string> sentences() {
        std::vector<Reason> reasons;
        for (const TuneKnob& k : m_space)
            if (Reason reason = of(k); !reason.text.empty())
                reasons.push_back(std::move(reason));
        std::stable_sort(
            reasons.begin(), reasons.end(), [](auto& a, auto& b) { return a.weight > b.weight; });
        std::vector<std::string> texts{memoryUse()};
        for (Reason& reason : reasons)
            texts.push_back(std::move(reason.text));
        return texts;
    }

private:
    std::string memoryUse() const {
        const TuneFigures& f = m_point.figures;
        const std::string stays =
            (f.pinned.value > 0 ? bytesText(f.pinned) + " of weights stay" : "no weights stay") +
            " resident";
        if (f.streamedPerToken.value == 0)
            return "Memory: " + stays + ", so nothing is read while tokens are decoded";
        return "Memory: " + stays + ", " + bytesText(f.streamedPerToken) +
               " are read for each token";
    }

    /// What the knob is held against: its default, or the best of the other values.
    std::string other(const TuneKnob& k) {
        const std::string now = k.knob->print(m_point.config);
        const std::string usual = k.knob->print(RunConfig());
        if (now != usual && std::count(k.values.begin(), k.values.end(), usual) > 0)
            return usual;
        std::vector<std::string> values = k.values;
        std::erase(values, now);
        std::vector<RunConfig> configs;
        for (const std::string& value : values)
            configs.push_back(with(m_point.config, *k.knob, value));
        const auto figures = m_memo.assess(configs);
        std::string best;
        double least = INFINITY;
        for (std::size_t i = 0; i < figures.size(); ++i)
            if (figures[i].feasible && figures[i].msPerToken < least) {
                least = figures[i].msPerToken;
                best = values[i];
            }
        return best.empty() && !values.empty() ? values.front() : best;
    }

    Reason of(const TuneKnob& k) {
        const std::string value = other(k);
        if (value.empty())
            return {};
        const RunConfig changed = with(m_point.config, *k.knob, value);
        const auto figures = m_memo.assess(std::span(&changed, 1));
        if (figures.empty())
            return {};
        const TuneFigures& f = figures.front();
        const std::string head =
            std::string(k.knob->label) + " " + k.knob->print(m_point.config) + ": ";
        if (!f.feasible && f.peak == Bytes(0))
            return {};
        if (!f.feasible)
            return {
                10 + ratio(f.peak.real(), m_point.figures.peak.real()),
                head + effect(k, value) + "with " + value + " the least is " + bytesText(f.peak)};
        const double token = ratio(f.msPerToken, m_point.figures.msPerToken);
        const double first = ratio(f.firstTokenMs, m_point.figures.firstTokenMs);
        const std::string text = comparison(token, first);
        if (text.empty())
            return {};
        return {
            std::abs(std::log(token)) + 0.1 * std::abs(std::log(first)),
            head + effect(k, value) + value + " would be " + text + " in this memory"};
    }

    /// What the knob does by itself, with all weights resident: "saves 18.4 MiB, costs 4 % of
    /// compute; ". Empty for knobs whose effect is the reading.
    std::string effect(const TuneKnob& k, const std::string& value) {
        const std::string_view key = k.knob->key;
        const plan::Loader loader = m_point.config.loader;
        if (key == "loader" && loader >= plan::Loader::Mmap && loader <= plan::Loader::Pread)
            return "what is read may stay in the page cache, beside the budget; ";
        if (key != "kv" && key != "cross_kv" && key != "cross_keep")
            return {};
        RunConfig now = m_point.config;
        now.budget.reset();
        const RunConfig pair[]{now, with(now, *k.knob, value)};
        const auto figures = m_memo.assess(pair);
        if (figures.size() < 2 || !figures[0].feasible || !figures[1].feasible)
            return {};
        const auto kept = [](const TuneFigures& f) { return f.crossKv + f.selfKv; };
        const Bytes saved = kept(figures[1]) - kept(figures[0]);
        const double cost = ratio(figures[0].msPerToken, figures[1].msPerToken) - 1;
        std::string text = saved >= Bytes(0) ? "saves " + bytesText(saved)
                                             : "takes " + bytesText(Bytes(-saved.value)) + " more";
        text += " against " + value;
        if (std::abs(cost) >= 0.005)
            text += (cost > 0 ? ", costs " : ", gains ") + percent(std::abs(cost)) + " of compute";
        return text + "; ";
    }

    const TunePoint& m_point;
    const std::vector<TuneKnob>& m_space;
    TuneMemo& m_memo;
};

} // namespace

std::vector<std::string>
reasonsFor(const TunePoint& point, const std::vector<TuneKnob>& space, TuneMemo& memo) {
    return Explainer(point, space, memo).sentences();
}

} // namespace shardscope::analyze
