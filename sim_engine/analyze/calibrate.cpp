// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

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
using Reads = RunObservation::Reads;
using LoaderKey = std::pair<Loader, std::int32_t>; ///< and threads

constexpr double kNano = 1e9;
constexpr int kRounds = 6;
constexpr double kMostLost = 0.9;
/// Medians of a run that are less beside reads than this count as undisturbed.
constexpr double kAlone = 0.25;

/// A value with its weight.
struct Weighted {
    double value = 0, weight = 0;
};

double weightedMedian(std::vector<Weighted> all) {
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.value < b.value; });
    double sum = 0, below = 0;
    for (const Weighted& w : all)
        sum += w.weight;
    for (const Weighted& w : all)
        if ((below += w.weight) * 2 >= sum)
            return w.value;
    return 0;
}

class Fitter {
public:
    Fitter(const Runs& runs, const plan::BoardProfile& prior) : m_runs(runs), m_prior(prior) {}

    Fit fit() {
        for (const RunObservation* run : m_runs)
            m_lost.emplace(LoaderKey(run->loader, run->threads), lostBefore(*run));
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
        for (const auto& [key, lost] : m_lost)
            if (const auto reads = fitReads(key, lost))
                put(costs.reads, *reads,
                    [&](const MeasuredReads& r) { return LoaderKey(r.loader, r.threads) == key; });
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

    double lostOf(const RunObservation& run) const { return m_lost.at({run.loader, run.threads}); }

    /// Times without reads: as they were alone where that was seen, else with what reads took away.
    void fitOps() {
        for (Shape& shape : m_shapes) {
            const bool seenAlone =
                std::any_of(shape.seen.begin(), shape.seen.end(), [](const Seen& s) {
                    return s.ops->besideReads < kAlone;
                });
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

    /// The share of its speed that something loses of which, in one run, `alone` were less beside
    /// something else than `beside` were: time * (1 - lost * share) is the same of both.
    static Weighted lostBetween(
        double aloneNs, double aloneShare, double besideNs, double besideShare, double weight) {
        const double apart = besideNs * besideShare - aloneNs * aloneShare;
        return {apart > 0 ? (besideNs - aloneNs) / apart : 0, apart > 0 ? weight : 0};
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
                lost[{s.run->loader, s.run->threads}].push_back(
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
                    m_pairedOps[{alone.run->loader, alone.run->threads}].push_back(
                        lostBetween(a.ns, a.besideReads, b.ns, b.besideReads, weight));
                }
    }

    /// The same of reads beside ops; none where no run shows them both ways.
    std::optional<double> pairedReads(const LoaderKey& key) const {
        constexpr double kApart = 0.1;
        std::vector<Weighted> lost;
        for (const RunObservation* run : m_runs)
            for (const Reads& a : run->reads)
                for (const Reads& b : run->reads) {
                    if (LoaderKey(run->loader, run->threads) != key || run->isThrottled ||
                        a.intoFresh || b.intoFresh || a.bytes != b.bytes ||
                        a.extents != b.extents || b.besideOps - a.besideOps < kApart)
                        continue;
                    const double weight =
                        static_cast<double>(std::min(a.count, b.count)) * (a.ns + b.ns);
                    lost.push_back(lostBetween(a.ns, a.besideOps, b.ns, b.besideOps, weight));
                }
        if (lost.empty())
            return std::nullopt;
        return std::clamp(weightedMedian(lost), 0.0, kMostLost);
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

    /// The same for reads: how far the line is from the median run.
    double
    levelOfReads(const LoaderKey& key, const std::pair<double, double>& line, double lost) const {
        std::vector<double> ratios;
        for (const RunObservation* run : m_runs) {
            if (LoaderKey(run->loader, run->threads) != key || run->isThrottled)
                continue;
            double took = 0, fits = 0;
            for (const Reads& r : run->reads)
                if (!r.intoFresh) {
                    const auto n = static_cast<double>(r.count);
                    took += n * r.ns;
                    fits += n * (line.first * r.extents + line.second * r.bytes) /
                            (1 - lost * r.besideOps);
                }
            if (fits > 0)
                ratios.push_back(took / fits);
        }
        return ratios.empty() ? 1 : median(ratios);
    }

    std::vector<const Reads*> readsOf(const LoaderKey& key, bool intoFresh) const {
        std::vector<const Reads*> all;
        for (const RunObservation* run : m_runs)
            if (LoaderKey(run->loader, run->threads) == key && !run->isThrottled)
                for (const Reads& r : run->reads)
                    if (r.intoFresh == intoFresh)
                        all.push_back(&r);
        return all;
    }

    /// What an extent may cost beside its bytes. Shards of a run are of few sizes, so that anything
    /// else that tells them apart (where in the page cache they lie) looks like a cost of requests:
    /// it is held to what the probe has seen of small ones.
    double mostRequestNs(Loader loader) const {
        constexpr double kMore = 3;
        const bool past = loader == Loader::Direct || loader == Loader::Uring;
        return kMore * m_prior.requestNs(
                           past ? plan::ReadPath::Direct : plan::ReadPath::Cached,
                           base::Bytes(plan::kPage));
    }

    /// time * (1 - lost * beside) = requestNs * extents + bytes / rate, by relative least squares.
    static std::pair<double, double>
    line(const std::vector<const Reads*>& reads, double lost, double mostRequestNs) {
        double nn = 0, nb = 0, bb = 0, ny = 0, by = 0;
        for (const Reads* r : reads) {
            const double y = r->ns * (1 - lost * r->besideOps);
            const double w = std::sqrt(static_cast<double>(r->count)) / (y * y);
            nn += w * r->extents * r->extents;
            nb += w * r->extents * r->bytes;
            bb += w * r->bytes * r->bytes;
            ny += w * r->extents * y;
            by += w * r->bytes * y;
        }
        const double det = nn * bb - nb * nb;
        double request = det > 1e-9 * nn * bb ? (ny * bb - by * nb) / det : 0;
        request = std::clamp(request, 0.0, mostRequestNs);
        double perByte = (by - request * nb) / bb; // the rest is in the bytes
        if (perByte <= 0) {
            request = 0;
            perByte = by / bb;
        }
        return {request, perByte};
    }

    /// Sum of what a line is off, in time.
    static double errorOf(
        const std::vector<const Reads*>& reads, const std::pair<double, double>& line,
        double lost) {
        double off = 0;
        for (const Reads* r : reads) {
            const double fit =
                (line.first * r->extents + line.second * r->bytes) / (1 - lost * r->besideOps);
            off += static_cast<double>(r->count) * std::abs(r->ns - fit);
        }
        return off;
    }

    /// As runs show both ways; else as all runs together are explained with the least error; and
    /// where all reads were alone, or none, as with another number of threads.
    double readLoss(const LoaderKey& key, const std::vector<const Reads*>& reads) const {
        if (const auto paired = pairedReads(key))
            return *paired;
        constexpr double kStep = 0.05, kApart = 0.1;
        const auto [alone, beside] =
            std::minmax_element(reads.begin(), reads.end(), [](const Reads* a, const Reads* b) {
                return a->besideOps < b->besideOps;
            });
        if ((*beside)->besideOps - (*alone)->besideOps < kApart) {
            for (const auto& [other, lost] : m_lost)
                if (other.first == key.first && other != key)
                    if (const auto paired = pairedReads(other))
                        return *paired;
            return 0;
        }
        double lost = 0, least = std::numeric_limits<double>::infinity();
        for (double tried = 0; tried <= kMostLost; tried += kStep) {
            const double off = errorOf(reads, line(reads, tried, mostRequestNs(key.first)), tried);
            if (off < least) {
                least = off;
                lost = tried;
            }
        }
        return lost;
    }

    std::optional<MeasuredReads> fitReads(const LoaderKey& key, double opsLose) {
        auto reads = readsOf(key, false);
        const auto fresh = readsOf(key, true);
        if (reads.empty())
            reads = fresh;
        if (reads.empty())
            return std::nullopt;
        const double lost = readLoss(key, reads);
        std::pair<double, double> found = line(reads, lost, mostRequestNs(key.first));
        const double level = levelOfReads(key, found, lost);
        found.first *= level;
        found.second *= level;
        MeasuredReads out;
        out.loader = key.first;
        out.threads = key.second;
        out.requestNs = found.first;
        out.bytesPerSecond = kNano / found.second;
        out.computeLoss = opsLose;
        out.readLoss = lost;
        std::vector<double> releases;
        for (const RunObservation* run : m_runs)
            if (LoaderKey(run->loader, run->threads) == key && run->releaseNsPerByte >= 0)
                releases.push_back(run->releaseNsPerByte);
        out.releaseNsPerByte = median(releases);
        std::vector<Weighted> freshPerByte;
        for (const Reads* r : fresh)
            freshPerByte.push_back(
                {(r->ns * (1 - lost * r->besideOps) - found.first * r->extents) / r->bytes,
                 r->bytes * static_cast<double>(r->count)});
        if (const double perByte = weightedMedian(freshPerByte); perByte > 0)
            out.freshBytesPerSecond = std::min(kNano / perByte, out.bytesPerSecond);
        double off = 0, all = 0;
        for (const Reads* r : reads) {
            const double fit =
                (found.first * r->extents + found.second * r->bytes) / (1 - lost * r->besideOps);
            const auto n = static_cast<double>(r->count);
            off += n * std::abs(r->ns - fit);
            all += n * r->ns;
            out.samples += r->count;
        }
        out.residual = all > 0 ? off / all : 0;
        m_readsOff += off;
        m_readsAll += all;
        return out;
    }

    void fitFixed(plan::BoardProfile& board) const {
        std::vector<double> start, gap, token, wake, row;
        for (const RunObservation* run : m_runs) {
            start.push_back(run->startNs);
            gap.push_back(run->opGapNs);
            token.push_back(run->tokenNs);
            if (run->wakeNs >= 0)
                wake.push_back(run->wakeNs);
            if (run->rowNs >= 0 && !run->isThrottled)
                row.push_back(run->rowNs);
        }
        board.measured.startNs = median(start);
        board.measured.opGapNs = median(gap);
        board.tokenFixedNs = median(token);
        if (!wake.empty())
            board.measured.wakeNs = median(wake);
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
