// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/tune_memo.h"

#include <algorithm>
#include <set>

#include "sim_engine/plan/knobs.h"

namespace shardscope::analyze {
namespace {

using base::Bytes;

/// Configurations a call: small enough that a search ends soon when it is told to.
constexpr std::size_t kBatch = 128;

/// All knobs but the budget, which is the first.
std::string keyOf(const plan::RunConfig& config) {
    std::string key;
    for (const plan::Knob& knob : plan::knobs().subspan(1))
        key.append(knob.print(config)).push_back(' ');
    return key;
}

Bytes budgetOf(const plan::RunConfig& config) {
    return config.budget.value_or(Bytes(INT64_MAX - 1));
}

} // namespace

const TuneFigures* TuneMemo::find(const std::string& key, Bytes budget) {
    const auto known = m_known.find(key);
    if (known == m_known.end())
        return nullptr;
    if (budget < known->second.needed) {
        m_unfit = {};
        m_unfit.peak = known->second.needed;
        return &m_unfit;
    }
    for (const Known::Made& made : known->second.made)
        if (made.figures.peak <= budget && budget <= made.budget)
            return &made.figures;
    return nullptr;
}

void TuneMemo::remember(const std::string& key, Bytes budget, const TuneFigures& figures) {
    Known& known = m_known[key];
    if (figures.feasible)
        known.made.push_back({budget, figures});
    else // settings that are impossible say no need: no budget holds them
        known.needed = figures.peak > Bytes(0) ? figures.peak : Bytes(INT64_MAX);
}

void TuneMemo::predictMissing(std::span<const plan::RunConfig> configs) {
    struct Asked {
        std::string key;
        plan::RunConfig config;
    };
    std::vector<Asked> missing;
    std::set<std::pair<std::string, Bytes>> asked;
    for (const plan::RunConfig& config : configs) {
        std::string key = keyOf(config);
        if (find(key, budgetOf(config)) || !asked.emplace(key, budgetOf(config)).second)
            continue;
        missing.push_back({std::move(key), config});
    }
    // Settings that differ in the budget alone follow each other: a predictor may gain by that.
    std::stable_sort(missing.begin(), missing.end(), [](const Asked& a, const Asked& b) {
        return a.key < b.key;
    });
    std::vector<plan::RunConfig> batch;
    for (std::size_t first = 0; first < missing.size() && !m_ended; first += kBatch) {
        const std::size_t count = std::min(kBatch, missing.size() - first);
        batch.clear();
        for (std::size_t i = 0; i < count; ++i)
            batch.push_back(missing[first + i].config);
        const auto figures = m_predict(batch);
        for (std::size_t i = 0; i < std::min(count, figures.size()); ++i)
            remember(missing[first + i].key, budgetOf(batch[i]), figures[i]);
        m_tried += static_cast<std::int64_t>(std::min(count, figures.size()));
        m_ended = figures.size() < count || !m_goOn();
    }
}

std::vector<TuneFigures> TuneMemo::assess(std::span<const plan::RunConfig> configs) {
    if (!m_ended)
        predictMissing(configs);
    std::vector<TuneFigures> all;
    for (const plan::RunConfig& config : configs) {
        const TuneFigures* known = find(keyOf(config), budgetOf(config));
        if (!known && m_ended)
            break; // before its turn came
        all.push_back(known ? *known : TuneFigures());
    }
    return all;
}

} // namespace shardscope::analyze
