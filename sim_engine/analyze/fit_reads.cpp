// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/fit_reads.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardscope::analyze {

using plan::Loader;

namespace {

using Runs = std::vector<const RunObservation*>;
using Reads = RunObservation::Reads;
using ReadList = std::vector<const Reads*>;

constexpr double kNano = 1e9;
/// Shares of computing beside reads that differ by less tell nothing.
constexpr double kApart = 0.1;

bool isMostlyLost(const Reads& r) {
    return r.lost >= 0.5;
}

/// time * (1 - readLoss * beside) = requestNs * extents + (nsPerByte + lostNsPerByte * lost) *
/// bytes.
struct ReadLine {
    double requestNs = 0, nsPerByte = 0, lostNsPerByte = 0, readLoss = 0;

    double alone(const Reads& r) const { return r.ns * (1 - readLoss * r.besideOps); }
    double of(const Reads& r) const {
        return (requestNs * r.extents + (nsPerByte + lostNsPerByte * r.lost) * r.bytes) /
               (1 - readLoss * r.besideOps);
    }
    void scale(double by) {
        requestNs *= by;
        nsPerByte *= by;
        lostNsPerByte *= by;
    }
    /// Sum of what it is off, in time.
    double off(const ReadList& reads) const {
        double sum = 0;
        for (const Reads* r : reads)
            sum += static_cast<double>(r->count) * std::abs(r->ns - of(*r));
        return sum;
    }
};

/// By relative least squares over reads into places that the caches still hold; what others take
/// more is the cost of a lost place. Where all were lost, or none, nothing tells it.
ReadLine lineThrough(const ReadList& reads, double readLoss, double mostRequestNs) {
    ReadLine line;
    line.readLoss = readLoss;
    const bool allLost =
        std::all_of(reads.begin(), reads.end(), [](const Reads* r) { return isMostlyLost(*r); });
    double nn = 0, nb = 0, bb = 0, ny = 0, by = 0;
    for (const Reads* r : reads) {
        if (isMostlyLost(*r) && !allLost)
            continue;
        const double y = line.alone(*r);
        const double w = std::sqrt(static_cast<double>(r->count)) / (y * y);
        nn += w * r->extents * r->extents;
        nb += w * r->extents * r->bytes;
        bb += w * r->bytes * r->bytes;
        ny += w * r->extents * y;
        by += w * r->bytes * y;
    }
    const double det = nn * bb - nb * nb;
    const double request = det > 1e-9 * nn * bb ? (ny * bb - by * nb) / det : 0;
    line.requestNs = std::clamp(request, 0.0, mostRequestNs);
    line.nsPerByte = (by - line.requestNs * nb) / bb; // the rest is in the bytes
    if (line.nsPerByte <= 0) {
        line.requestNs = 0;
        line.nsPerByte = by / bb;
    }
    if (allLost)
        return line;
    std::vector<Weighted> more;
    for (const Reads* r : reads)
        if (isMostlyLost(*r))
            more.push_back(
                {(line.alone(*r) - line.requestNs * r->extents - line.nsPerByte * r->bytes) /
                     (r->lost * r->bytes),
                 r->bytes * static_cast<double>(r->count)});
    line.lostNsPerByte = std::max(0.0, weightedMedian(more));
    return line;
}

/// What reads lose beside ops, by reads of the same bytes into the same kind of place that a run
/// shows both ways; none where no run does.
std::optional<double> pairedLoss(const Runs& runs) {
    std::vector<Weighted> lost;
    for (const RunObservation* run : runs)
        for (const Reads& a : run->reads)
            for (const Reads& b : run->reads) {
                if (a.intoFresh || b.intoFresh || a.fileOffset != b.fileOffset ||
                    a.bytes != b.bytes || isMostlyLost(a) != isMostlyLost(b) ||
                    b.besideOps - a.besideOps < kApart)
                    continue;
                const double weight =
                    static_cast<double>(std::min(a.count, b.count)) * (a.ns + b.ns);
                lost.push_back(lostBetween(a.ns, a.besideOps, b.ns, b.besideOps, weight));
            }
    if (lost.empty())
        return std::nullopt;
    return std::clamp(weightedMedian(lost), 0.0, kMostLost);
}

class ReadFitter {
public:
    ReadFitter(const Runs& all, const plan::BoardProfile& prior, LoaderKey key) : m_key(key) {
        for (const RunObservation* run : all)
            if (run->loader == key.first && !run->isThrottled)
                (run->threads == key.second ? m_runs : m_otherThreads).push_back(run);
        const bool past = key.first == Loader::Direct || key.first == Loader::Uring;
        // Shards of a run are of few sizes, so that anything else that tells them apart (where in
        // the page cache they lie) looks like a cost of requests.
        constexpr double kMore = 3;
        m_mostRequestNs = kMore * prior.requestNs(
                                      past ? plan::ReadPath::Direct : plan::ReadPath::Cached,
                                      base::Bytes(plan::kPage));
    }

    std::optional<ReadFit> fit() const {
        const ReadList fresh = readsOf(true);
        ReadList reads = readsOf(false);
        if (reads.empty())
            reads = fresh;
        if (reads.empty())
            return std::nullopt;
        ReadLine line = lineThrough(reads, readLoss(reads), m_mostRequestNs);
        line.scale(level(line));
        ReadFit out;
        out.costs.loader = m_key.first;
        out.costs.threads = m_key.second;
        out.costs.requestNs = line.requestNs;
        out.costs.bytesPerSecond = kNano / line.nsPerByte;
        out.costs.freshBytesPerSecond = freshRate(fresh, line);
        out.costs.readLoss = line.readLoss;
        out.costs.lostNsPerByte = line.lostNsPerByte;
        out.costs.wakeNs = wake();
        out.costs.releaseNsPerByte = release();
        out.offNs = line.off(reads);
        for (const Reads* r : reads) {
            out.allNs += static_cast<double>(r->count) * r->ns;
            out.costs.samples += r->count;
        }
        out.costs.residual = out.allNs > 0 ? out.offNs / out.allNs : 0;
        return out;
    }

private:
    ReadList readsOf(bool intoFresh) const {
        ReadList all;
        for (const RunObservation* run : m_runs)
            for (const Reads& r : run->reads)
                if (r.intoFresh == intoFresh)
                    all.push_back(&r);
        return all;
    }

    /// As runs show both ways; else as all runs together are explained with the least error; and
    /// where all reads were alone, or none, as with another number of threads.
    double readLoss(const ReadList& reads) const {
        if (const auto paired = pairedLoss(m_runs))
            return *paired;
        const auto [alone, beside] =
            std::minmax_element(reads.begin(), reads.end(), [](const Reads* a, const Reads* b) {
                return a->besideOps < b->besideOps;
            });
        if ((*beside)->besideOps - (*alone)->besideOps < kApart)
            return pairedLoss(m_otherThreads).value_or(0);
        constexpr double kStep = 0.05;
        double lost = 0, least = std::numeric_limits<double>::infinity();
        for (double tried = 0; tried <= kMostLost; tried += kStep) {
            const double off = lineThrough(reads, tried, m_mostRequestNs).off(reads);
            if (off < least) {
                least = off;
                lost = tried;
            }
        }
        return lost;
    }

    /// How far the line is from the median run: medians of many reads add up to less than a run
    /// takes on a machine that others disturb.
    double level(const ReadLine& line) const {
        std::vector<double> ratios;
        for (const RunObservation* run : m_runs) {
            double took = 0, fits = 0;
            for (const Reads& r : run->reads)
                if (!r.intoFresh) {
                    const auto n = static_cast<double>(r.count);
                    took += n * r.ns;
                    fits += n * line.of(r);
                }
            if (fits > 0)
                ratios.push_back(took / fits);
        }
        return ratios.empty() ? 1 : median(ratios);
    }

    /// Into memory that nothing has touched before; 0 where that was not seen.
    static double freshRate(const ReadList& fresh, const ReadLine& line) {
        std::vector<Weighted> perByte;
        for (const Reads* r : fresh)
            perByte.push_back(
                {(line.alone(*r) - line.requestNs * r->extents) / r->bytes,
                 r->bytes * static_cast<double>(r->count)});
        const double ns = weightedMedian(perByte);
        return ns > 0 ? kNano / std::max(ns, line.nsPerByte) : 0;
    }

    double wake() const {
        std::vector<Weighted> wakes;
        for (const RunObservation* run : m_runs)
            wakes.push_back({run->wakeNs, static_cast<double>(run->wakes)});
        return weightedMedian(wakes);
    }

    double release() const {
        std::vector<double> releases;
        for (const RunObservation* run : m_runs)
            if (run->releaseNsPerByte >= 0)
                releases.push_back(run->releaseNsPerByte);
        return median(releases);
    }

    LoaderKey m_key;
    Runs m_runs, m_otherThreads; ///< of this loader
    double m_mostRequestNs = 0;
};

} // namespace

Weighted
lostBetween(double aloneNs, double aloneShare, double besideNs, double besideShare, double weight) {
    const double apart = besideNs * besideShare - aloneNs * aloneShare;
    return {apart > 0 ? (besideNs - aloneNs) / apart : 0, apart > 0 ? weight : 0};
}

std::optional<ReadFit> fitReads(const Runs& runs, const plan::BoardProfile& prior, LoaderKey key) {
    return ReadFitter(runs, prior, key).fit();
}

} // namespace shardscope::analyze
