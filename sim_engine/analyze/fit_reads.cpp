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
/// Reads with their extents, and their bytes as they count: by where they lie in the page cache.
struct Laid {
    const Reads* reads;
    double extents, bytes;
};
using ReadList = std::vector<Laid>;

constexpr double kNano = 1e9;
/// Shares of computing beside reads that differ by less tell nothing.
constexpr double kApart = 0.1;

/// time * (1 - readLoss * beside) = requestNs * extents + (nsPerByte + lostNsPerByte * lost) *
/// bytes.
struct ReadLine {
    double requestNs = 0, nsPerByte = 0, lostNsPerByte = 0, readLoss = 0;

    double alone(const Reads& r) const { return r.ns * (1 - readLoss * r.besideOps); }
    double of(const Laid& laid) const {
        const Reads& r = *laid.reads;
        return (requestNs * laid.extents + nsPerByte * laid.bytes +
                lostNsPerByte * r.lost * r.bytes) /
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
        for (const Laid& r : reads)
            sum += static_cast<double>(r.reads->count) * std::abs(r.reads->ns - of(r));
        return sum;
    }
};

/// What an extent may cost.
struct RequestRange {
    double least = 0, most = 0;
};

/// By relative least squares over reads into places that the caches still hold; what others take
/// more is the cost of a lost place. Where all were lost, or none, nothing tells it.
ReadLine lineThrough(const ReadList& reads, double readLoss, const RequestRange& range) {
    ReadLine line;
    line.readLoss = readLoss;
    const bool allLost = std::all_of(
        reads.begin(), reads.end(), [](const Laid& r) { return r.reads->isMostlyLost(); });
    double nn = 0, nb = 0, bb = 0, ny = 0, by = 0;
    for (const Laid& r : reads) {
        if (r.reads->isMostlyLost() && !allLost)
            continue;
        const double y = line.alone(*r.reads);
        const double w = std::sqrt(static_cast<double>(r.reads->count)) / (y * y);
        nn += w * r.extents * r.extents;
        nb += w * r.extents * r.bytes;
        bb += w * r.bytes * r.bytes;
        ny += w * r.extents * y;
        by += w * r.bytes * y;
    }
    const double det = nn * bb - nb * nb;
    const double request = det > 1e-9 * nn * bb ? (ny * bb - by * nb) / det : 0;
    line.requestNs = std::clamp(request, range.least, range.most);
    line.nsPerByte = (by - line.requestNs * nb) / bb; // the rest is in the bytes
    if (line.nsPerByte <= 0) {
        line.requestNs = 0;
        line.nsPerByte = by / bb;
    }
    if (allLost)
        return line;
    std::vector<Weighted> more;
    for (const Laid& laid : reads) {
        const Reads& r = *laid.reads;
        if (r.isMostlyLost())
            more.push_back(
                {(line.alone(r) - line.requestNs * laid.extents - line.nsPerByte * laid.bytes) /
                     (r.lost * r.bytes),
                 r.bytes * static_cast<double>(r.count)});
    }
    line.lostNsPerByte = std::max(0.0, weightedMedian(more));
    return line;
}

bool isOfSameBytes(const Reads& a, const Reads& b) {
    return a.bytes == b.bytes && a.extents.front().fileOffset == b.extents.front().fileOffset;
}

/// What reads lose beside ops, by reads of the same bytes into the same kind of place that a run
/// shows both ways; none where no run does.
std::optional<double> pairedLoss(const Runs& runs) {
    std::vector<Weighted> lost;
    for (const RunObservation* run : runs)
        for (auto one = run->reads.begin(); one != run->reads.end(); ++one)
            for (auto other = one + 1; // those of a shard stand together
                 other != run->reads.end() && isOfSameBytes(*one, *other); ++other) {
                const bool isFirst = one->besideOps < other->besideOps;
                const Reads &a = isFirst ? *one : *other, &b = isFirst ? *other : *one;
                if (a.intoFresh || b.intoFresh || a.isMostlyLost() != b.isMostlyLost() ||
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
    ReadFitter(
        const Runs& all, const ReadsKnown& known, const plan::BoardProfile& prior, LoaderKey key)
        : m_key(key), m_files(known.files), m_request{0, mostRequestNs(prior, key.first)} {
        if (key.first == Loader::Pread)
            m_request = {known.copyRequestNs, known.copyRequestNs};
        for (const RunObservation* run : all)
            if (run->loader == key.first && !run->isThrottled)
                (run->threads == key.second ? m_runs : m_otherThreads).push_back(run);
    }

    std::optional<ReadFit> fit() const {
        const ReadList fresh = readsOf(true);
        ReadList reads = readsOf(false);
        if (reads.empty())
            reads = fresh;
        if (reads.empty())
            return std::nullopt;
        ReadLine line = lineThrough(reads, readLoss(reads), m_request);
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
        for (const Laid& r : reads) {
            out.allNs += static_cast<double>(r.reads->count) * r.reads->ns;
            out.costs.samples += r.reads->count;
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
                    all.push_back(laid(*run, r));
        return all;
    }

    Laid laid(const RunObservation& run, const Reads& r) const {
        return {
            &r, static_cast<double>(r.extents.size()),
            plan::copiedBytes(m_files, run.model, run.loader, r.extents)};
    }

    /// As runs show both ways; else as all runs together are explained with the least error; and
    /// where all reads were alone, or none, as with another number of threads.
    double readLoss(const ReadList& reads) const {
        if (const auto paired = pairedLoss(m_runs))
            return *paired;
        const auto [alone, beside] =
            std::minmax_element(reads.begin(), reads.end(), [](const Laid& a, const Laid& b) {
                return a.reads->besideOps < b.reads->besideOps;
            });
        if (beside->reads->besideOps - alone->reads->besideOps < kApart)
            return pairedLoss(m_otherThreads).value_or(0);
        constexpr double kStep = 0.05;
        double lost = 0, least = std::numeric_limits<double>::infinity();
        for (double tried = 0; tried <= kMostLost; tried += kStep) {
            const double off = lineThrough(reads, tried, m_request).off(reads);
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
                    fits += n * line.of(laid(*run, r));
                }
            if (fits > 0)
                ratios.push_back(took / fits);
        }
        return ratios.empty() ? 1 : median(ratios);
    }

    /// Into memory that nothing has touched before; 0 where that was not seen.
    static double freshRate(const ReadList& fresh, const ReadLine& line) {
        std::vector<Weighted> perByte;
        for (const Laid& r : fresh)
            perByte.push_back(
                {(line.alone(*r.reads) - line.requestNs * r.extents) / r.bytes,
                 r.bytes * static_cast<double>(r.reads->count)});
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
    const std::vector<plan::CachedFile>& m_files;
    RequestRange m_request;
    Runs m_runs, m_otherThreads; ///< of this loader
};

} // namespace

Weighted
lostBetween(double aloneNs, double aloneShare, double besideNs, double besideShare, double weight) {
    const double apart = besideNs * besideShare - aloneNs * aloneShare;
    return {apart > 0 ? (besideNs - aloneNs) / apart : 0, apart > 0 ? weight : 0};
}

double mostRequestNs(const plan::BoardProfile& prior, Loader loader) {
    constexpr double kMore = 3;
    const bool past = loader == Loader::Direct || loader == Loader::Uring;
    return kMore *
           prior.requestNs(
               past ? plan::ReadPath::Direct : plan::ReadPath::Cached, base::Bytes(plan::kPage));
}

std::optional<ReadFit> fitReads(
    const Runs& runs, const ReadsKnown& known, const plan::BoardProfile& prior, LoaderKey key) {
    return ReadFitter(runs, known, prior, key).fit();
}

} // namespace shardscope::analyze
