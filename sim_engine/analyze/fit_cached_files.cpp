// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/fit_cached_files.h"

#include <algorithm>
#include <cmath>

namespace shardscope::analyze {

using base::Bytes;
using plan::CachedFile;
using plan::MeasuredReads;

namespace {

using Reads = RunObservation::Reads;

constexpr std::int64_t kMostCells = 512;
constexpr int kRounds = 8;
/// No page takes so many times less or more than the mean.
constexpr double kMost = 10;

/// Reads of one shard in one run: how long its bytes took against the mean.
struct Copied {
    const Reads* reads;
    double cost;
};

class FileFitter {
public:
    explicit FileFitter(std::string model) { m_file.model = std::move(model); }

    void add(const RunObservation& run, const MeasuredReads& mean) {
        std::vector<Copied> copied;
        for (const Reads& r : run.reads) {
            if (r.intoFresh)
                continue;
            const double ns = r.ns * (1 - mean.readLoss * r.besideOps) -
                              mean.requestNs * static_cast<double>(r.extents.size()) -
                              mean.lostNsPerByte * r.lost * r.bytes;
            copied.push_back(
                {&r, std::clamp(ns / r.bytes * mean.bytesPerSecond * 1e-9, 1 / kMost, kMost)});
            for (const plan::Extent& e : r.extents)
                m_end = std::max(m_end, e.fileOffset + e.bytes);
        }
        m_runs.push_back(std::move(copied));
    }

    bool hasSeen() const { return m_end > Bytes(0); }

    CachedFile fit() {
        const Bytes least = base::mebibytes(1);
        m_file.cell = std::max(least, Bytes(m_end.value / kMostCells + 1));
        m_file.costs.assign(
            static_cast<std::size_t>((m_end.value + m_file.cell.value - 1) / m_file.cell.value), 1);
        for (int round = 0; round < kRounds; ++round)
            refine();
        return std::move(m_file);
    }

private:
    double costOf(const Reads& r) const {
        double sum = 0;
        for (const plan::Extent& e : r.extents)
            sum += m_file.weighted(e.fileOffset, e.bytes);
        return sum / r.bytes;
    }

    /// What all of a run is off is not the file's.
    double levelOf(const std::vector<Copied>& run) const {
        double took = 0, fits = 0;
        for (const Copied& c : run) {
            const double weight = c.reads->bytes * static_cast<double>(c.reads->count);
            took += weight * c.cost;
            fits += weight * costOf(*c.reads);
        }
        return fits > 0 ? took / fits : 1;
    }

    /// Each cell takes its share in what the reads over it are off.
    void refine() {
        std::vector<double> off(m_file.costs.size()), weights(m_file.costs.size());
        for (const auto& run : m_runs) {
            const double level = levelOf(run);
            for (const Copied& c : run) {
                const double apart = std::log(c.cost / (level * costOf(*c.reads)));
                const double count = std::sqrt(static_cast<double>(c.reads->count));
                for (const plan::Extent& e : c.reads->extents)
                    m_file.each(e.fileOffset, e.bytes, [&](std::size_t at, double part) {
                        // A read of few cells tells more of each.
                        const double weight = count * part / c.reads->bytes;
                        off[at] += weight * apart;
                        weights[at] += weight;
                    });
            }
        }
        double sum = 0, seen = 0;
        for (std::size_t i = 0; i < off.size(); ++i)
            if (weights[i] > 0) {
                m_file.costs[i] *= std::exp(off[i] / weights[i]);
                sum += m_file.costs[i];
                ++seen;
            }
        for (std::size_t i = 0; i < off.size(); ++i)
            m_file.costs[i] =
                weights[i] > 0 ? std::clamp(m_file.costs[i] * seen / sum, 1 / kMost, kMost) : 1;
    }

    CachedFile m_file;
    Bytes m_end;
    std::vector<std::vector<Copied>> m_runs;
};

} // namespace

std::vector<CachedFile> fitCachedFiles(
    const std::vector<const RunObservation*>& runs, const std::vector<MeasuredReads>& reads) {
    std::vector<std::string> models;
    for (const RunObservation* run : runs)
        if (std::find(models.begin(), models.end(), run->model) == models.end())
            models.push_back(run->model);
    std::vector<CachedFile> files;
    for (const std::string& model : models) {
        FileFitter fitter(model);
        for (const RunObservation* run : runs) {
            if (run->model != model || run->loader != plan::Loader::Pread || run->isThrottled)
                continue;
            const auto mean = std::find_if(reads.begin(), reads.end(), [&](const MeasuredReads& r) {
                return r.loader == run->loader && r.threads == run->threads;
            });
            if (mean != reads.end())
                fitter.add(*run, *mean);
        }
        if (fitter.hasSeen())
            files.push_back(fitter.fit());
    }
    return files;
}

} // namespace shardscope::analyze
