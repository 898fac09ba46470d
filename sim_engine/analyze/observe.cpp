// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <map>
#include <tuple>

#include "sim_engine/analyze/calibrate.h"
#include "sim_engine/analyze/median.h"
#include "sim_engine/plan/cached_places.h"

namespace shardscope::analyze {

using base::Error;
using base::ErrorCode;
using base::Result;
using model::PassKind;
using plan::Loader;
using plan::WeightSource;
using trace::Event;
using trace::EventKind;
using trace::Lane;

namespace {

/// What a read finds where it writes.
struct Place {
    bool isFresh = false; ///< nothing has touched it before
    double lost = 0;      ///< the share of it that the caches have lost
};

struct Span {
    double begin = 0, end = 0;
};

/// Time that [begin, end) has in common with sorted spans that do not overlap; for moments that
/// ascend.
class Overlap {
public:
    explicit Overlap(const std::vector<Span>& spans) : m_spans(spans) {}
    double of(double begin, double end) {
        while (m_at < m_spans.size() && m_spans[m_at].end <= begin)
            ++m_at;
        double sum = 0;
        for (std::size_t i = m_at; i < m_spans.size() && m_spans[i].begin < end; ++i)
            sum += std::min(end, m_spans[i].end) - std::max(begin, m_spans[i].begin);
        return sum;
    }

private:
    const std::vector<Span>& m_spans;
    std::size_t m_at = 0;
};

/// Above this share something counts as done beside something else.
constexpr double kBeside = 0.25;

class Observer {
public:
    Observer(
        const trace::Trace& trace, const plan::Plan& plan, Loader loader,
        const plan::BoardProfile& board, bool isCold)
        : m_trace(trace), m_plan(plan), m_board(board),
          m_firstIsOther(isCold && loader != Loader::Direct && loader != Loader::Uring),
          m_keys(plan::kernelsOf(plan)) {
        m_run.model = plan.card->name;
        m_run.loader = loader;
        m_run.threads = plan.config.threads;
        m_run.isThrottled = plan.config.emulateRead.has_value();
    }

    RunObservation take() {
        spans();
        ops();
        reads();
        fixedCosts();
        if (m_run.loader == Loader::Mmap || m_run.loader == Loader::Populate)
            releases();
        return std::move(m_run);
    }

private:
    struct OpGroup {
        RunObservation::Ops head;
        std::vector<double> ns, positions;
        double beside = 0;
    };

    /// The part of a read in which bytes move: all of it, unless a throttle holds it back.
    double activeNs(const Event& read) const {
        const auto time = static_cast<double>(read.a);
        if (!m_run.isThrottled)
            return time;
        const plan::MeasuredReads* known = m_board.measured.find(m_run.loader, m_run.threads);
        const bool direct = m_run.loader == Loader::Direct || m_run.loader == Loader::Uring;
        const double rate = known
                                ? known->bytesPerSecond
                                : m_board.readRate(
                                      direct ? plan::ReadPath::Direct : plan::ReadPath::Cached,
                                      base::kibibytes(512), m_run.loader == Loader::Uring ? 8 : 1);
        return std::min(time, static_cast<double>(read.b) / rate * 1e9);
    }

    void spans() {
        for (const Event& e : m_trace.events) {
            const auto begin = static_cast<double>(e.t_ns);
            if (e.kind == EventKind::Read && e.lane == Lane::Io)
                m_moving.push_back({begin, begin + activeNs(e)});
            if (e.kind == EventKind::Compute)
                m_computing.push_back({begin, begin + static_cast<double>(e.a)});
        }
        const auto earlier = [](const Span& a, const Span& b) { return a.begin < b.begin; };
        std::sort(m_moving.begin(), m_moving.end(), earlier);
        std::sort(m_computing.begin(), m_computing.end(), earlier);
    }

    /// Rows of an op in its pass; the trace tells how many tokens a pass has.
    static std::int32_t rowsOf(const model::Op& op, PassKind pass, std::int32_t tokens) {
        return pass < PassKind::Prefill || op.lastTokenOnly ? 1 : std::max(tokens, 1);
    }

    void ops() {
        Overlap moving(m_moving);
        std::map<std::tuple<std::uint32_t, int, std::int32_t, bool>, OpGroup> groups;
        std::vector<bool> waited(m_plan.shards.size()), fresh(m_plan.shards.size());
        std::vector<std::int32_t> loads(m_plan.shards.size());
        std::int32_t tokens = 1, position = 0;
        const std::vector<std::uint32_t> sameAs = alike();
        for (const Event& e : m_trace.events) {
            if (e.kind == EventKind::Phase)
                tokens = static_cast<std::int32_t>(e.a);
            if (e.kind == EventKind::Load) {
                waited[e.id] = true;
                ++loads[e.id];
            }
            if (e.kind == EventKind::Stall && e.id < fresh.size() && waited[e.id]) {
                fresh[e.id] = true;
                waited[e.id] = false;
            }
            if (e.kind == EventKind::Token) {
                std::fill(fresh.begin(), fresh.end(), false); // the pass is over
                position = m_plan.graph->promptTokens + static_cast<std::int32_t>(e.a);
            }
            if (e.kind == EventKind::Window)
                position = 0;
            if (e.kind != EventKind::Compute)
                continue;
            const model::Op& op = m_plan.graph->ops[e.id];
            const auto pass = static_cast<PassKind>(e.aux);
            const base::ShardId shard = m_plan.shardOfOp[e.id];
            const bool isFresh = shard.valid() && !op.weights.empty() && fresh[shard.index()];
            if (isFresh && m_firstIsOther && m_run.loader == Loader::Mmap &&
                loads[shard.index()] == 1)
                continue;
            const auto begin = static_cast<double>(e.t_ns), time = static_cast<double>(e.a);
            const double share = time > 0 ? moving.of(begin, begin + time) / time : 0;
            const std::int32_t rows = rowsOf(op, pass, tokens);
            OpGroup& group = groups[{sameAs[e.id], isFresh ? 1 : 0, rows, share > kBeside}];
            if (group.ns.empty())
                group.head = headOf(e.id, pass, rows, isFresh);
            group.ns.push_back(time);
            group.beside += share;
            // As OpTimes counts: p+1, p+2, ... of each token.
            const double n = rows;
            group.positions.push_back(n * position + n * (n + 1) / 2);
        }
        for (auto& [key, group] : groups)
            m_run.ops.push_back(summed(group));
    }

    /// By op: the first one of the same shape.
    std::vector<std::uint32_t> alike() const {
        std::vector<std::uint32_t> first;
        std::vector<std::pair<std::uint32_t, plan::OpShape>> different;
        for (std::uint32_t i = 0; i < m_plan.graph->ops.size(); ++i) {
            const plan::OpShape shape = headOf(i, PassKind::Encode, 1, false).shape;
            const auto known = std::find_if(
                different.begin(), different.end(), [&](auto& d) { return d.second == shape; });
            first.push_back(known == different.end() ? i : known->first);
            if (known == different.end())
                different.emplace_back(i, shape);
        }
        return first;
    }

    RunObservation::Ops
    headOf(std::uint32_t id, PassKind pass, std::int32_t rows, bool isFresh) const {
        const model::Op& op = m_plan.graph->ops[id];
        RunObservation::Ops head;
        head.pass = pass;
        head.shape.kernel = m_keys[id];
        head.shape.source = isFresh ? plan::freshSource(m_run.loader) : plan::heldSource(m_plan);
        head.shape.threads = m_run.threads;
        head.shape.rows = rows;
        head.shape.flops = op.cost.flops;
        head.shape.flopsPerPosition = op.cost.flopsPerPosition;
        head.shape.weightBytes = m_plan.weightBytes(op).real();
        return head;
    }

    static RunObservation::Ops summed(OpGroup& group) {
        RunObservation::Ops out = group.head;
        const auto n = static_cast<double>(group.ns.size());
        out.count = static_cast<std::int64_t>(group.ns.size());
        out.besideReads = group.beside / n;
        double x = 0, y = 0, xx = 0, xy = 0;
        for (std::size_t i = 0; i < group.ns.size(); ++i) {
            x += group.positions[i] / n;
            y += group.ns[i] / n;
            out.totalNs += group.ns[i];
        }
        out.positions = x;
        out.ns = y;
        if (group.head.shape.flopsPerPosition <= 0)
            return out;
        for (std::size_t i = 0; i < group.ns.size(); ++i) {
            xx += (group.positions[i] - x) * (group.positions[i] - x);
            xy += (group.positions[i] - x) * (group.ns[i] - y);
        }
        out.slope = xx > 0 ? std::max(0.0, xy / xx) : 0;
        return out;
    }

    /// By shard and number of its load: what the read finds in its place.
    std::vector<std::vector<Place>> placesOfLoads() const {
        std::map<std::uint64_t, std::size_t> places; // by offset in the arena
        for (const Event& e : m_trace.events)
            if (e.kind == EventKind::Load)
                places.emplace(e.a, places.size());
        const bool copies = m_run.loader == Loader::Pread; // others do not write through the caches
        plan::CachedPlaces cached(
            places.size(), copies ? m_board.machine.cacheBytes : base::Bytes(0));
        std::vector<bool> touched(places.size());
        std::vector<std::vector<Place>> of(m_plan.shards.size());
        for (const Event& e : m_trace.events) {
            if (e.kind == EventKind::Load) {
                const std::size_t at = places.at(e.a);
                const bool reuses =
                    static_cast<plan::Reason>(e.aux) == plan::Reason::PinnedForTokens;
                of[e.id].push_back(
                    {!touched[at] && !reuses, cached.fill(at, m_plan.shards[e.id].bytes.real())});
                touched[at] = true;
            }
            if (e.kind == EventKind::Compute && m_plan.staysPinned(base::OpId(e.id)))
                cached.use(m_plan.weightBytes(m_plan.graph->ops[e.id]).real());
        }
        return of;
    }

    void reads() {
        using Key = std::tuple<std::uint32_t, bool, bool, bool>;
        std::map<Key, std::vector<double>> times;
        std::map<Key, double> beside, lost;
        const std::vector<std::vector<Place>> places = placesOfLoads();
        std::vector<std::size_t> next(m_plan.shards.size());
        Overlap computing(m_computing);
        for (const Event& e : m_trace.events) {
            if (e.kind != EventKind::Read || e.lane != Lane::Io || e.a == 0)
                continue;
            const std::size_t number = next[e.id]++;
            if (number == 0 && m_firstIsOther)
                continue;
            const Place place = number < places[e.id].size() ? places[e.id][number] : Place();
            const auto begin = static_cast<double>(e.t_ns), time = static_cast<double>(e.a);
            const double share = computing.of(begin, begin + time) / time;
            const Key key{
                e.id, share > kBeside, place.isFresh,
                place.lost >= RunObservation::Reads::kMostlyLost};
            times[key].push_back(time);
            beside[key] += share;
            lost[key] += place.lost;
        }
        for (auto& [key, list] : times) {
            RunObservation::Reads r;
            const plan::Shard& shard = m_plan.shards[std::get<0>(key)];
            r.extents = shard.extents;
            r.bytes = shard.bytes.real();
            r.intoFresh = std::get<2>(key);
            r.count = static_cast<std::int64_t>(list.size());
            r.besideOps = beside[key] / static_cast<double>(list.size());
            r.lost = lost[key] / static_cast<double>(list.size());
            r.ns = mean(list);
            m_run.reads.push_back(r);
        }
    }

    void fixedCosts() {
        std::vector<double> gaps, tokens, wakes, rows;
        std::vector<double> readEnd(m_plan.shards.size(), -1);
        double lastEnd = -1;
        for (const Event& e : m_trace.events) {
            const auto begin = static_cast<double>(e.t_ns), end = begin + static_cast<double>(e.a);
            if (e.kind == EventKind::RunBegin)
                m_run.startNs = begin;
            if (e.kind == EventKind::Read && e.lane == Lane::Io)
                readEnd[e.id] = end;
            if (e.kind == EventKind::Read && e.id == trace::kRowRead)
                rows.push_back(static_cast<double>(e.a));
            if (e.kind == EventKind::Stall && e.a > 2000 && readEnd[e.id] > begin &&
                readEnd[e.id] <= end)
                wakes.push_back(end - readEnd[e.id]);
            if (e.kind == EventKind::Compute && lastEnd >= 0 &&
                static_cast<PassKind>(e.aux) == PassKind::Decode)
                gaps.push_back(begin - lastEnd);
            if (e.kind == EventKind::Token && lastEnd >= 0)
                tokens.push_back(begin - lastEnd);
            if (e.lane == Lane::Compute)
                lastEnd = e.kind == EventKind::Compute ? end : -1;
        }
        m_run.opGapNs = median(gaps); // without what reads beside them and other programs took
        m_run.tokenNs = tokens.empty() ? 0 : std::max(0.0, mean(tokens) - m_run.opGapNs);
        m_run.wakes = static_cast<std::int64_t>(wakes.size());
        m_run.wakeNs = wakes.empty() ? 0 : mean(wakes);
        m_run.rowNs = rows.empty() ? -1 : mean(rows);
    }

    /// An eviction is told when the pages are unmapped: what has passed on the compute lane until
    /// then, and was no wait for a read, is what that took.
    void releases() {
        Overlap moving(m_moving);
        double time = 0, bytes = 0, lastEnd = -1;
        for (const Event& e : m_trace.events) {
            if (e.lane != Lane::Compute)
                continue;
            const auto now = static_cast<double>(e.t_ns);
            if (e.kind == EventKind::Evict && lastEnd >= 0) {
                time += now - lastEnd - moving.of(lastEnd, now);
                bytes += m_plan.shards[e.id].held.real();
            }
            const bool lasts = e.kind == EventKind::Compute || e.kind == EventKind::Stall ||
                               e.kind == EventKind::Read;
            lastEnd = now + (lasts ? static_cast<double>(e.a) : 0);
        }
        if (bytes > 0)
            m_run.releaseNsPerByte = std::max(0.0, time) / bytes;
    }

    const trace::Trace& m_trace;
    const plan::Plan& m_plan;
    const plan::BoardProfile& m_board;
    bool m_firstIsOther; ///< the first load of a shard comes from the device, later ones do not
    std::vector<plan::KernelKey> m_keys;
    std::vector<Span> m_moving, m_computing;
    RunObservation m_run;
};

} // namespace

Result<RunObservation> observe(
    const trace::Trace& trace, const plan::Plan& plan, Loader loader,
    const plan::BoardProfile& board, bool isCold) {
    const auto refused = [](std::string what) {
        return Error{
            ErrorCode::BadInput, std::move(what), "calibration",
            "give a whole recording of this version"};
    };
    if (trace.legend.planHash != plan.hashText() ||
        trace.legend.ops.size() != plan.graph->ops.size() ||
        trace.legend.shards.size() != plan.shards.size())
        return refused("the trace was made by another plan");
    if (plan.graph->beam > 1)
        return Error{
            ErrorCode::BadInput, "beams come and go, so its ops are of no known size",
            "calibration", "give a run with --beam 1"};
    if (trace.dropped > 0 || !trace.complete)
        return refused("the trace lacks events");
    return Observer(trace, plan, loader, board, isCold).take();
}

} // namespace shardscope::analyze
