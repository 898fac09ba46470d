// SPDX-License-Identifier: GPL-3.0-or-later
// The search. The memory limit is cut into levels; each level keeps the best settings that fit it,
// once by the time of a token and once by the time to the first. They begin with a coarse grid over
// the knobs that matter most and are then bettered knob by knob, and pair by pair for knobs that
// help each other, until nothing helps. What is good at one level is offered to all above it.
#include "sim_engine/analyze/tune.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim_engine/analyze/tune_memo.h"
#include "sim_engine/analyze/tune_reasons.h"
#include "sim_engine/analyze/tune_space.h"

namespace shardscope::analyze {
namespace {

using base::Bytes;
using plan::RunConfig;
using Configs = std::vector<RunConfig>;

constexpr int kLevels = 16;
constexpr int kMostRounds = 12;
/// A point has to be faster than the ones with less memory by this share.
constexpr double kWorthAPoint = 0.005;

enum class Aim : std::uint8_t { Token, FirstToken };
constexpr std::array kAims{Aim::Token, Aim::FirstToken};

double timeOf(const TuneFigures& f, Aim aim) {
    return aim == Aim::Token ? f.msPerToken : f.firstTokenMs;
}

/// The best that a level has for one aim.
struct Best {
    RunConfig config;
    TuneFigures figures;
    double score = INFINITY;
    bool expanded = false; ///< its neighbours were tried

    bool found() const { return std::isfinite(score); }
};

struct Level {
    Bytes limit;
    std::array<Best, kAims.size()> best;
};

class Search {
public:
    Search(
        const model::ModelCard& card, const plan::BoardProfile& board, const TuneQuestion& question,
        const Predict& predict, const TuneProgress& progress)
        : m_question(question), m_space(tuneSpace(card, board, question)),
          m_limit(question.start.budget.value_or(board.ramTotal - board.ramReserved)),
          m_predict(predict), m_progress(progress), m_memo(predict, [this] { return tell(); }) {}

    TuneResult run() {
        if (makeLevels()) {
            advance(0.05);
            offer(seeds());
            advance(0.3);
            improve(0.3, 0.65);
            offer(pairs());
            advance(0.75);
            improve(0.75, 0.9);
        }
        return finish();
    }

private:
    bool makeLevels();
    Configs thriftiest() const;
    Configs seeds() const;
    Configs pairs() const;
    void improve(double from, double to);
    void offer(const Configs& configs);
    void offer(const RunConfig& config, const TuneFigures& figures);
    double score(const RunConfig& config, const TuneFigures& figures, Aim aim) const;
    double excess(const TuneFigures& figures) const;
    std::vector<TunePoint> front(Aim aim) const;
    TuneResult soFar() const;
    TuneResult finish();
    void settle(std::vector<TunePoint>& points, Aim aim) const;
    void explain(std::vector<TunePoint>& front);

    bool tell() { return m_progress(m_share, soFar()); }
    void advance(double share) { m_share = share; }
    const TuneKnob* knob(std::string_view key) const {
        for (const TuneKnob& k : m_space)
            if (k.knob->key == key)
                return &k;
        return nullptr;
    }
    /// Each of `configs` with each of these values; unchanged where the knob is not searched or
    /// does not take them.
    Configs
    times(const Configs& configs, std::string_view key, std::vector<std::string> values) const;
    Configs times(const Configs& configs, std::string_view key) const {
        const TuneKnob* k = knob(key);
        return k ? times(configs, key, k->values) : configs;
    }

    const TuneQuestion& m_question;
    std::vector<TuneKnob> m_space;
    Bytes m_limit;
    const Predict& m_predict;
    const TuneProgress& m_progress;
    TuneMemo m_memo;
    std::vector<Level> m_levels;
    TuneResult m_result; ///< what is known beside the fronts
    double m_share = 0;
};

Configs
Search::times(const Configs& configs, std::string_view key, std::vector<std::string> values) const {
    const TuneKnob* k = knob(key);
    if (!k)
        return configs;
    std::erase_if(values, [&](const std::string& value) {
        return std::count(k->values.begin(), k->values.end(), value) == 0;
    });
    if (values.empty())
        return configs;
    Configs all;
    for (const RunConfig& config : configs)
        for (const std::string& value : values)
            all.push_back(with(config, *k->knob, value));
    return all;
}

/// Those among which the one with the least memory is: finest shards, nothing read ahead.
Configs Search::thriftiest() const {
    Configs all{m_question.start};
    all = times(all, "encoder_shard", {"tensor"});
    all = times(all, "decoder_shard", {"tensor"});
    all = times(all, "slots", {"1"});
    all = times(all, "batch", {"1"});
    all = times(all, "cross_keep", {"0.5"});
    all = times(all, "threads", {"auto", "1"});
    all = times(all, "vocab_shards", {"auto", "16", "64"});
    all = times(all, "kv", {"f16", "q8", "q4"});
    return times(all, "cross_kv", {"f16", "shared", "q8", "q4"});
}

/// From the least memory that any settings need to what they need with all weights resident.
bool Search::makeLevels() {
    Configs thrifty = thriftiest();
    for (RunConfig& config : thrifty)
        config.budget = Bytes(4096); // too little: what is told is the need
    Bytes least(INT64_MAX), most;
    for (const TuneFigures& f : m_memo.assess(thrifty))
        if (f.peak > Bytes(0))
            least = std::min(least, f.peak);
    Configs lavish = times(times(times({m_question.start}, "kv"), "cross_kv"), "batch");
    for (RunConfig& config : lavish)
        config.budget.reset();
    for (const TuneFigures& f : m_memo.assess(lavish))
        most = std::max(most, f.peak);
    if (least.value == INT64_MAX)
        return false;
    m_result.leastPeak = least;
    if (least > m_limit)
        return false;
    most = std::clamp(most, least, m_limit);
    const double ratio = most.real() / least.real();
    const std::int64_t grain = (most - least) > base::mebibytes(64) ? 1 << 20 : 1 << 16;
    for (int i = 0; i <= kLevels; ++i) {
        const double exact = least.real() * std::pow(ratio, static_cast<double>(i) / kLevels);
        const Bytes limit =
            std::min(m_limit, base::alignUp(Bytes(static_cast<std::int64_t>(exact)), grain));
        if (m_levels.empty() || m_levels.back().limit < limit)
            m_levels.push_back({limit, {}});
    }
    return true;
}

/// A coarse grid at every level.
Configs Search::seeds() const {
    Configs grid = times({m_question.start}, "cross_kv", {"f16", "shared", "q8", "q4"});
    Configs shards;
    for (const char* size : {"tensor", "sublayer", "1"}) {
        const Configs one = times(times(grid, "decoder_shard", {size}), "encoder_shard", {size});
        shards.insert(shards.end(), one.begin(), one.end());
    }
    grid = times(shards, "slots", {"1", "2"});
    Configs all = thriftiest(); // what they give at the lowest level is offered to all above it
    for (RunConfig& config : all)
        config.budget = m_levels.front().limit;
    for (const Level& level : m_levels)
        for (RunConfig config : grid) {
            config.budget = level.limit;
            all.push_back(std::move(config));
        }
    return all;
}

/// Two knobs at once, for those of which one alone may not help.
Configs Search::pairs() const {
    constexpr std::array<std::pair<const char*, const char*>, 4> kPairs{
        {{"decoder_shard", "slots"},
         {"decoder_shard", "vocab_shards"},
         {"policy", "decoder_shard"},
         {"batch", "cross_kv"}}};
    Configs all;
    for (const Level& level : m_levels)
        for (const auto& [a, b] : kPairs) {
            const Best& best = level.best[static_cast<std::size_t>(Aim::Token)];
            if (!best.found())
                continue;
            RunConfig config = best.config;
            config.budget = level.limit;
            const Configs both = times(times({config}, a), b);
            all.insert(all.end(), both.begin(), both.end());
        }
    return all;
}

/// Rounds of single knobs, until no level gets better.
void Search::improve(double from, double to) {
    double share = from;
    for (int round = 0; round < kMostRounds && !m_memo.ended(); ++round) {
        Configs all;
        for (Level& level : m_levels)
            for (Best& best : level.best) {
                if (!best.found() || std::exchange(best.expanded, true))
                    continue;
                RunConfig config = best.config;
                config.budget = level.limit;
                const Configs around = neighbours(config, m_space);
                all.insert(all.end(), around.begin(), around.end());
                all.push_back(std::move(config)); // what was found at a lower level, with more room
            }
        if (all.empty())
            break;
        offer(all);
        share += (to - share) / 2;
        advance(share);
    }
    advance(to);
}

void Search::offer(const Configs& configs) {
    const std::vector<TuneFigures> figures = m_memo.assess(configs);
    for (std::size_t i = 0; i < figures.size(); ++i)
        if (figures[i].feasible)
            offer(configs[i], figures[i]);
}

void Search::offer(const RunConfig& config, const TuneFigures& figures) {
    const auto keepLeast = [](std::optional<double>& least, double value) {
        least = least ? std::min(*least, value) : value;
    };
    if (figures.peak <= m_limit) {
        keepLeast(m_result.leastMsPerToken, figures.msPerToken);
        keepLeast(m_result.leastFirstTokenMs, figures.firstTokenMs);
    }
    for (const Aim aim : kAims) {
        const double value = score(config, figures, aim);
        for (Level& level : m_levels) {
            Best& best = level.best[static_cast<std::size_t>(aim)];
            if (figures.peak <= level.limit && value < best.score - 1e-9)
                best = {config, figures, value, false};
        }
    }
}

/// By how much the constraints are missed, as the sum of the logarithms; 0 where they are kept.
double Search::excess(const TuneFigures& f) const {
    double sum = 0;
    if (m_question.maxMsPerToken && f.msPerToken > *m_question.maxMsPerToken)
        sum += std::log(f.msPerToken / *m_question.maxMsPerToken);
    if (m_question.maxFirstTokenMs && f.firstTokenMs > *m_question.maxFirstTokenMs)
        sum += std::log(f.firstTokenMs / *m_question.maxFirstTokenMs);
    return sum;
}

/// Less is better: the logarithm of what is aimed at. The other time counts a fiftieth, so that it
/// decides between equals; the number of changed knobs decides what neither does. Settings that
/// miss the constraints come after all that keep them, the nearer the better.
double Search::score(const RunConfig& config, const TuneFigures& f, Aim aim) const {
    constexpr double kOther = 0.02, kChange = 2e-4, kMissed = 1e3;
    const double token = std::log(std::max(f.msPerToken, 1e-9));
    const double first = std::log(std::max(f.firstTokenMs, 1e-9));
    const double missed = excess(f);
    return (aim == Aim::Token ? token + kOther * first : first + kOther * token) +
           kChange * changes(config, m_space) + (missed > 0 ? kMissed * (1 + missed) : 0);
}

/// The levels' best that no smaller one beats. The budget of each is what its plan needs.
std::vector<TunePoint> Search::front(Aim aim) const {
    std::vector<const Best*> bests;
    for (const Level& level : m_levels)
        if (const Best& b = level.best[static_cast<std::size_t>(aim)];
            b.found() && excess(b.figures) <= 0)
            bests.push_back(&b);
    const auto time = [aim](const TuneFigures& f) { return timeOf(f, aim); };
    std::stable_sort(bests.begin(), bests.end(), [&](const Best* a, const Best* b) {
        return std::pair(a->figures.peak, time(a->figures)) <
               std::pair(b->figures.peak, time(b->figures));
    });
    std::vector<TunePoint> points;
    for (const Best* best : bests) {
        const TuneFigures& f = best->figures;
        if (!points.empty() && time(f) >= time(points.back().figures) * (1 - kWorthAPoint))
            continue;
        TunePoint point{best->config, f, {}};
        const Bytes whole = base::alignUp(f.peak, 1 << 20); // as a budget is typed
        point.config.budget = whole <= best->config.budget.value_or(m_limit) ? whole : f.peak;
        points.push_back(std::move(point));
    }
    return points;
}

TuneResult Search::soFar() const {
    TuneResult result = m_result;
    result.front = front(Aim::Token);
    result.firstToken = front(Aim::FirstToken);
    result.tried = m_memo.tried();
    return result;
}

/// Predicts the points with the budgets that they are given out with, so that what is told of them
/// is what they do, whatever an arena's layout makes of less room.
void Search::settle(std::vector<TunePoint>& points, Aim aim) const {
    Configs configs;
    for (const TunePoint& point : points)
        configs.push_back(point.config);
    const std::vector<TuneFigures> figures = m_predict(configs);
    if (figures.size() < points.size())
        return;
    std::vector<TunePoint> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].figures = figures[i];
        const bool better =
            kept.empty() || (figures[i].peak > kept.back().figures.peak &&
                             timeOf(figures[i], aim) < timeOf(kept.back().figures, aim));
        if (figures[i].feasible && excess(figures[i]) <= 0 && better)
            kept.push_back(std::move(points[i]));
    }
    points = std::move(kept);
}

void Search::explain(std::vector<TunePoint>& points) {
    for (TunePoint& point : points)
        point.why = reasonsFor(point, m_space, m_memo);
}

TuneResult Search::finish() {
    TuneResult result = soFar();
    const bool whole = !m_memo.ended();
    if (whole) {
        settle(result.front, Aim::Token);
        settle(result.firstToken, Aim::FirstToken);
        explain(result.front);
        explain(result.firstToken);
    }
    result.tried = m_memo.tried();
    result.complete = whole && !m_memo.ended();
    return result;
}

} // namespace

TuneResult tune(
    const model::ModelCard& card, const plan::BoardProfile& board, const TuneQuestion& question,
    const Predict& predict, const TuneProgress& progress) {
    return Search(card, board, question, predict, progress).run();
}

} // namespace shardscope::analyze
