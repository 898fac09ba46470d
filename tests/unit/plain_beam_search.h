// SPDX-License-Identifier: GPL-3.0-or-later
// A beam search as plain as can be, to hold the engine's against: it keeps whole texts and looks at
// every token of whole rows of probabilities. English models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "device_agent/engine/whisper/token_pick.h"
#include "tests/unit/tiny_vocabulary.h"

namespace shardscope::test {

using engine::Picking;
using tokenizer::Token;
using Text = std::vector<Token>;
using Logits = std::vector<float>;
/// The logits of what follows a text.
using Model = std::function<Logits(const Text&)>;

struct PlainSearch {
    Picking picking = Picking::Text;
    std::size_t width = 1;
    std::size_t most = 1; ///< tokens
    Token frames = 3000;  ///< of 10 ms that are left of the recording
    Token space = 1;      ///< the token of a single space

    Text run(const Model& model) const;

private:
    /// The rules of timestamps, told once more.
    bool isAllowed(const Text& text, Token id) const {
        if (picking == Picking::Raw)
            return true;
        const bool isTime = id >= kTime0;
        if ((id > kEot && !isTime) || (isTime && picking == Picking::Text))
            return false;
        if (text.empty())
            return id != kEot && id != space && id <= kTime0 + 50;
        const bool afterTime = text.back() >= kTime0;
        const bool afterPair = text.size() < 2 || text[text.size() - 2] >= kTime0;
        if (afterTime && (afterPair ? isTime : id < kEot))
            return false;
        const Token latest = *std::max_element(text.begin(), text.end());
        return !isTime || latest <= kTime0 || id >= latest;
    }

    struct Hypothesis {
        Text text;
        double sum = 0;
        bool hasEnded = false;

        /// The later the better.
        auto rank() const {
            bool isVaried = true;
            if (text.size() > 32) {
                std::map<Token, double> counts;
                for (std::size_t i = text.size() - 32; i < text.size(); ++i)
                    counts[text[i]] += 1;
                double entropy = 0;
                for (const auto& [id, n] : counts)
                    entropy -= n / 32 * std::log(n / 32);
                isVaried = entropy >= 2.4;
            }
            return std::tuple(hasEnded, isVaried, sum / static_cast<double>(text.size()));
        }
    };

    /// Every token that may follow, with its log probability.
    std::vector<std::pair<Token, double>>
    continuations(const Text& text, const Logits& logits) const {
        double all = 0, times = 0, bestText = -INFINITY;
        for (Token id = 0; id < kSize; ++id) {
            const double x = double{logits[static_cast<std::size_t>(id)]};
            if (!isAllowed(text, id))
                continue;
            all += std::exp(x);
            if (picking == Picking::Timestamps && id >= kTime0)
                times += std::exp(x);
            else
                bestText = std::max(bestText, x);
        }
        const bool timesOnly = std::log(times) > bestText;
        std::vector<std::pair<Token, double>> list;
        for (Token id = 0; id < kSize; ++id)
            if (isAllowed(text, id) && (!timesOnly || id >= kTime0))
                list.push_back({id, double{logits[static_cast<std::size_t>(id)]} - std::log(all)});
        return list;
    }
};

inline Text PlainSearch::run(const Model& model) const {
    std::vector<Hypothesis> live(1), over;
    for (std::size_t step = 0; step < most && !live.empty(); ++step) {
        std::vector<Hypothesis> next;
        for (const Hypothesis& h : live) {
            auto list = continuations(h.text, model(h.text));
            std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
                return a.second > b.second;
            });
            list.resize(std::min(list.size(), width));
            for (const auto& [id, p] : list) {
                next.push_back({h.text, h.sum + p, false});
                next.back().text.push_back(id);
            }
        }
        std::stable_sort(
            next.begin(), next.end(), [](const auto& a, const auto& b) { return a.sum > b.sum; });
        next.resize(std::min(next.size(), width - over.size()));
        live.clear();
        for (Hypothesis& h : next) {
            const Token id = h.text.back();
            const bool atEnd =
                picking == Picking::Timestamps && id > kTime0 && 2 * (id - kTime0) + 10 >= frames;
            h.hasEnded = picking != Picking::Raw && (id == kEot || atEnd);
            (h.hasEnded ? over : live).push_back(h);
        }
    }
    over.insert(over.end(), live.begin(), live.end());
    return std::max_element(
               over.begin(), over.end(),
               [](const auto& a, const auto& b) { return a.rank() < b.rank(); })
        ->text;
}

} // namespace shardscope::test
