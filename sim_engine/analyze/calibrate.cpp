// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim_engine/analyze/fit_cached_files.h"
#include "sim_engine/analyze/fit_reads.h"
#include "sim_engine/analyze/median.h"
#include "sim_engine/base/format.h"

namespace shardscope::analyze {

using base::Result;
using plan::Loader;
using plan::MeasuredOp;
using plan::MeasuredReads;

namespace {

using Runs = std::vector<const RunObservation*>;
using Ops = RunObservation::Ops;

constexpr int kRounds = 6;
/// Of what reads cost at the mean, and where they take longer, in turn.
constexpr int kFileRounds = 4;
/// Medians of a run that are less beside reads than this count as undisturbed.
constexpr double kAlone = 0.25;

class Fitter {
public:
    Fitter(const Runs& runs, const plan::BoardProfile& prior) : m_runs(runs), m_prior(prior) {}

    Fit fit() {
        for (const RunObservation* run : m_runs)
            m_lost.emplace(keyOf(*run), lostBefore(*run));
        gather();
        for (int round = 0; round < kRounds; ++round) {
            fitOps();
            if (round + 1 < kRounds)
                fitLosses();
        }
        levelOps();
        Fit out;
        out.board = m_prior;
        plan::MeasuredCosts& costs = out.board.measured;
        for (const Shape& shape : m_shapes)
            put(costs.ops, shape.fit,
                [&](const MeasuredOp& op) { return op.shape == shape.fit.shape; });
        const ReadsKnown known = fitFiles();
        for (const MeasuredReads& reads : readsWith(known, std::nullopt))
            put(costs.reads, reads, [&](const MeasuredReads& r) {
                return r.loader == reads.loader && r.threads == reads.threads;
            });
        for (const plan::CachedFile& file : known.files)
            put(costs.files, file,
                [&](const plan::CachedFile& f) { return f.model == file.model; });
        fitFixed(out.board);
        out.board.source =
            base::formatted("fitted to %zu runs; ", m_runs.size()) +
            m_prior.source.substr(0, m_prior.source.starts_with("fitted") ? 0 : std::string::npos);
        judge(out.quality);
        return out;
    }

private:
    struct Seen {
        const RunObservation* run;
        const Ops* ops;
    };
    struct Shape {
        MeasuredOp fit;
        std::vector<Seen> seen;
    };

    /// What earlier runs have shown stays, unless these show it too.
    template <typename T, typename IsSame>
    static void put(std::vector<T>& all, const T& one, IsSame isSame) {
        const auto known = std::find_if(all.begin(), all.end(), isSame);
        if (known == all.end())
            all.push_back(one);
        else
            *known = one;
    }

    double lostBefore(const RunObservation& run) const {
        for (const MeasuredReads& r : m_prior.measured.reads)
            if (r.loader == run.loader && r.threads == run.threads)
                return r.computeLoss;
        return 1 - 1 / (1 + m_prior.lostWhileReading(plan::ReadPath::Cached, false));
    }

    void gather() {
        for (const RunObservation* run : m_runs)
            for (const Ops& ops : run->ops) {
                auto shape = std::find_if(m_shapes.begin(), m_shapes.end(), [&](const Shape& s) {
                    return s.fit.shape == ops.shape;
                });
                if (shape == m_shapes.end()) {
                    shape = m_shapes.insert(m_shapes.end(), Shape());
                    shape->fit.shape = ops.shape;
                }
                shape->seen.push_back({run, &ops});
            }
        // Ops between long waits find cold caches and threads that sleep: such runs count where no
        // other shows the shape.
        for (Shape& shape : m_shapes) {
            const auto waits = [](const Seen& s) { return s.run->isThrottled; };
            if (!std::all_of(shape.seen.begin(), shape.seen.end(), waits))
                std::erase_if(shape.seen, waits);
        }
    }

    double lostOf(const RunObservation& run) const { return m_lost.at(keyOf(run)); }

    /// The first ops of a run alone are of cold caches: a few say nothing of the rest.
    static bool isSeenAlone(const Shape& shape) {
        constexpr std::int64_t kEnough = 10; // one of so many
        std::int64_t alone = 0, all = 0;
        for (const Seen& s : shape.seen) {
            alone += s.ops->besideReads < kAlone ? s.ops->count : 0;
            all += s.ops->count;
        }
        return alone * kEnough >= all;
    }

    /// Times without reads: as they were alone where that was seen, else with what reads took away.
    void fitOps() {
        for (Shape& shape : m_shapes) {
            const bool seenAlone = isSeenAlone(shape);
            std::vector<Weighted> times, slopes;
            shape.fit.samples = 0;
            for (const Seen& s : shape.seen) {
                const bool alone = s.ops->besideReads < kAlone;
                const auto count = static_cast<double>(s.ops->count);
                shape.fit.samples += s.ops->count;
                if (seenAlone && !alone)
                    continue;
                const double clean = 1 - s.ops->besideReads * lostOf(*s.run);
                const double weight = std::sqrt(count); // a run's samples share its disturbances
                if (s.ops->slope > 0 && count >= 16)
                    slopes.push_back({s.ops->slope * clean, weight});
                times.push_back({s.ops->ns * clean, weight});
            }
            shape.fit.nsPerPosition = slopes.empty() ? 0 : weightedMedian(slopes);
            if (shape.fit.nsPerPosition > 0) {
                std::size_t i = 0;
                for (const Seen& s : shape.seen)
                    if (!seenAlone || s.ops->besideReads < kAlone)
                        times[i++].value -= shape.fit.nsPerPosition * s.ops->positions;
            }
            shape.fit.ns = std::max(0.0, weightedMedian(times));
        }
    }

    static bool isResident(const Shape& shape) {
        const plan::WeightSource source = shape.fit.shape.source;
        return source == plan::WeightSource::Resident || source == plan::WeightSource::Pinned;
    }

    double fitted(const Shape& shape, const Seen& s) const {
        const double alone = shape.fit.ns + shape.fit.nsPerPosition * s.ops->positions;
        return alone / (1 - s.ops->besideReads * lostOf(*s.run));
    }

    /// What reads take away from ops beside them: of shapes that a run shows both ways, since runs
    /// differ by more; else of all runs together.
    void fitLosses() {
        if (m_pairedOps.empty())
            pairOps();
        std::map<LoaderKey, std::vector<Weighted>> lost;
        for (const Shape& shape : m_shapes)
            for (const Seen& s : shape.seen) {
                if (s.ops->besideReads < 2 * kAlone || s.ops->ns <= 0)
                    continue;
                const double alone = shape.fit.ns + shape.fit.nsPerPosition * s.ops->positions;
                lost[keyOf(*s.run)].push_back(
                    {(1 - alone / s.ops->ns) / s.ops->besideReads, s.ops->totalNs});
            }
        for (const auto& [key, values] : lost) {
            const auto paired = m_pairedOps.find(key);
            m_lost[key] = std::clamp(
                weightedMedian(paired == m_pairedOps.end() ? values : paired->second), 0.0,
                kMostLost);
        }
    }

    void pairOps() {
        for (const Shape& shape : m_shapes)
            for (const Seen& alone : shape.seen)
                for (const Seen& beside : shape.seen) {
                    const Ops &a = *alone.ops, &b = *beside.ops;
                    if (alone.run != beside.run || a.besideReads >= kAlone ||
                        b.besideReads < 2 * kAlone)
                        continue;
                    const auto weight = static_cast<double>(std::min(a.count, b.count));
                    m_pairedOps[keyOf(*alone.run)].push_back(
                        lostBetween(a.ns, a.besideReads, b.ns, b.besideReads, weight));
                }
    }

    /// Medians of many ops add up to less than a run takes on a machine that others disturb: what
    /// is missing of a pass, in the median run, is spread over its ops. Ops beside reads say
    /// nothing of those alone, so each source of weights is held against its own.
    void levelOps() {
        using Key = std::tuple<const RunObservation*, model::PassKind, plan::WeightSource>;
        std::map<Key, std::pair<double, double>> sums;
        for (const Shape& shape : m_shapes)
            for (const Seen& s : shape.seen) {
                if (isResident(shape) && s.ops->besideReads >= kAlone)
                    continue;
                auto& [took, fits] = sums[{s.run, s.ops->pass, shape.fit.shape.source}];
                took += s.ops->ns * static_cast<double>(s.ops->count);
                fits += fitted(shape, s) * static_cast<double>(s.ops->count);
            }
        std::map<std::pair<model::PassKind, plan::WeightSource>, std::vector<double>> ratios;
        for (const auto& [key, sum] : sums)
            if (sum.second > 0)
                ratios[{std::get<1>(key), std::get<2>(key)}].push_back(sum.first / sum.second);
        for (Shape& shape : m_shapes) {
            auto& all = ratios[{shape.seen.front().ops->pass, shape.fit.shape.source}];
            const double level = all.empty() ? 1 : median(all);
            shape.fit.ns *= level;
            shape.fit.nsPerPosition *= level;
        }
    }

    /// How files lie in the page cache, with what an extent costs: of small shards, which are dear,
    /// either may be the cause. What explains all reads with the least error is taken.
    ReadsKnown fitFiles() {
        ReadsKnown best;
        if (std::none_of(m_runs.begin(), m_runs.end(), [](const RunObservation* run) {
                return run->loader == Loader::Pread;
            }))
            return best;
        constexpr double kStep = 0.7, kLeast = 0.01; // of the most that an extent may cost
        const double most = mostRequestNs(m_prior, Loader::Pread);
        double least = std::numeric_limits<double>::infinity();
        for (double share = 1; share > kLeast; share *= kStep) {
            ReadsKnown tried{{}, most * share};
            for (int round = 0; round < kFileRounds; ++round)
                tried.files = fitCachedFiles(m_runs, readsWith(tried, Loader::Pread));
            (void)readsWith(tried, Loader::Pread);
            if (m_readsOff < least) {
                least = m_readsOff;
                best = std::move(tried);
            }
        }
        return best;
    }

    /// Of this loader; none: of all.
    std::vector<MeasuredReads> readsWith(const ReadsKnown& known, std::optional<Loader> loader) {
        m_readsOff = m_readsAll = 0;
        std::vector<MeasuredReads> all;
        for (const auto& [key, lost] : m_lost) {
            if (loader && key.first != *loader)
                continue;
            if (auto reads = fitReads(m_runs, known, m_prior, key)) {
                reads->costs.computeLoss = lost;
                reads->costs.touchNsPerByte = touchOf(key);
                all.push_back(reads->costs);
                m_readsOff += reads->offNs;
                m_readsAll += reads->allNs;
            }
        }
        return all;
    }

    /// What ops on a lazy map take more than the same ops on weights that stay, if it were one
    /// thread; 0 where no shape was seen both ways.
    double touchOf(const LoaderKey& key) const {
        std::vector<Weighted> more;
        for (const Shape& mapped : m_shapes) {
            plan::OpShape held = mapped.fit.shape;
            if (held.source != plan::WeightSource::Mapped || held.weightBytes <= 0 ||
                key != LoaderKey(Loader::Mmap, held.threads))
                continue;
            for (const auto source : {plan::WeightSource::Resident, plan::WeightSource::Pinned}) {
                held.source = source;
                const auto same =
                    std::find_if(m_shapes.begin(), m_shapes.end(), [&](const Shape& s) {
                        return s.fit.shape == held;
                    });
                if (same == m_shapes.end())
                    continue;
                more.push_back(
                    {(mapped.fit.ns - same->fit.ns) * m_prior.computeSpeedUp(held.threads) /
                         held.weightBytes,
                     held.weightBytes * static_cast<double>(mapped.fit.samples)});
                break;
            }
        }
        return std::max(0.0, weightedMedian(more));
    }

    void fitFixed(plan::BoardProfile& board) const {
        std::vector<double> start, gap, token, row;
        std::vector<Weighted> wake;
        for (const RunObservation* run : m_runs) {
            start.push_back(run->startNs);
            gap.push_back(run->opGapNs);
            token.push_back(run->tokenNs);
            wake.push_back({run->wakeNs, static_cast<double>(run->wakes)});
            if (run->rowNs >= 0 && !run->isThrottled)
                row.push_back(run->rowNs);
        }
        board.measured.startNs = median(start);
        board.measured.opGapNs = median(gap);
        board.tokenFixedNs = median(token);
        if (const double woken = weightedMedian(wake); woken > 0)
            board.measured.wakeNs = woken;
        if (!row.empty())
            board.measured.rowNs = median(row);
    }

    void judge(FitQuality& quality) {
        quality.runs = static_cast<std::int64_t>(m_runs.size());
        std::array<double, model::kPassCount> all{};
        for (Shape& shape : m_shapes) {
            std::vector<double> residuals;
            for (const Seen& s : shape.seen) {
                const double off = std::abs(s.ops->ns - fitted(shape, s));
                const auto pass = static_cast<std::size_t>(s.ops->pass);
                quality.passes[pass] += off * static_cast<double>(s.ops->count);
                all[pass] += s.ops->ns * static_cast<double>(s.ops->count);
                if (s.ops->ns > 0)
                    residuals.push_back(off / s.ops->ns);
            }
            shape.fit.residual = median(residuals);
        }
        for (std::size_t pass = 0; pass < all.size(); ++pass)
            quality.passes[pass] = all[pass] > 0 ? quality.passes[pass] / all[pass] : 0;
        quality.reads = m_readsAll > 0 ? m_readsOff / m_readsAll : 0;
    }

    const Runs& m_runs;
    const plan::BoardProfile& m_prior;
    std::map<LoaderKey, double> m_lost;                     ///< share of their speed that ops lose
    std::map<LoaderKey, std::vector<Weighted>> m_pairedOps; ///< the same by each pair
    std::vector<Shape> m_shapes;
    double m_readsOff = 0, m_readsAll = 0;
};

} // namespace

Result<Fit> calibrate(const Runs& runs, const plan::BoardProfile& prior) {
    if (runs.empty())
        return base::Error{
            base::ErrorCode::Usage, "there is no run to fit to", "calibrate",
            "give recordings of runs on this board"};
    return Fitter(runs, prior).fit();
}

} // namespace shardscope::analyze
