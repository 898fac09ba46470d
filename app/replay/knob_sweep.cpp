// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/knob_sweep.h"

#include <algorithm>
#include <map>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::app {

using base::Bytes;
using base::formatted;
using trace::Event;
using trace::EventKind;

namespace {

/// Sums over the decoding steps, then means.
void addTokens(SweepRow& row, const trace::Trace& trace) {
    std::uint64_t first = UINT64_MAX, last = 0;
    double steps = 0;
    const bool searches = std::any_of(trace.events.begin(), trace.events.end(), [](const Event& e) {
        return e.kind == EventKind::Step; // its tokens come when all steps are over
    });
    for (const Event& e : trace.events)
        if (e.kind == (searches ? EventKind::Step : EventKind::Token)) {
            first = std::min(first, e.t_ns);
            last = e.t_ns;
            steps += e.a > 0 ? 1 : 0;
        }
    if (steps == 0)
        return;
    for (const Event& e : trace.events) {
        if (e.t_ns < first || e.t_ns >= last)
            continue;
        const double ms = static_cast<double>(e.a) * 1e-6 / steps;
        if (e.kind == EventKind::Stall)
            row.stallMs += ms;
        if (e.kind != EventKind::Read)
            continue;
        row.readMs += ms;
        row.bytesRead += static_cast<double>(e.b) / steps;
        if (e.id == trace::kRowRead)
            row.stallMs += ms; // nothing hides the reading of rows
        else
            row.loads += 1 / steps;
    }
}

bool usedByTokens(const plan::Shard& shard) {
    return shard.key.stack == model::ShardKey::Stack::Decoder ||
           shard.key.stack == model::ShardKey::Stack::Vocabulary;
}

SweepRow rowOf(const plan::Plan& plan, const trace::Trace& trace) {
    const analyze::Summary summary = analyze::summarise(trace);
    SweepRow row;
    row.feasible = true;
    row.peak = plan.peak;
    row.pinned = plan.pinnedBytes;
    for (const plan::Shard& shard : plan.shards)
        if (usedByTokens(shard))
            row.largestShard = std::max(row.largestShard, shard.bytes);
    row.msPerToken = summary.decodeMsPerToken;
    row.firstTokenMs = summary.firstTokenMs;
    addTokens(row, trace);
    return row;
}

} // namespace

std::vector<std::string> sweepValues(std::string_view key) {
    static const std::map<std::string_view, std::vector<std::string>> kValues{
        {"encoder_shard", {"tensor", "sublayer", "1", "2", "3"}},
        {"decoder_shard", {"tensor", "sublayer", "1", "2", "3"}},
        {"vocab_shards", {"1", "2", "4", "8", "16", "32"}},
        {"policy", {"pin", "lru", "mru", "random", "belady"}},
        {"slots", {"1", "2", "3", "4"}},
        {"loader", {"mmap", "populate", "pread", "direct", "uring"}},
        {"kv", {"f32", "f16", "q8", "q4"}},
        {"cross_kv", {"f32", "f16", "q8", "q4", "shared"}},
        {"cross_keep", {"1.0", "0.5"}},
        {"threads", {"1", "2", "4"}},
        {"batch", {"1", "2", "4", "8"}},
    };
    const auto found = kValues.find(key);
    return found == kValues.end() ? std::vector<std::string>() : found->second;
}

base::Result<Sweep> sweepKnob(
    std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board,
    const plan::RunConfig& config, const plan::Knob& knob, const std::vector<std::string>& values,
    const sim::Workload& workload) {
    Sweep sweep{card->name, board.name, &knob, config, {}};
    for (const std::string& value : values) {
        plan::RunConfig changed = config;
        if (base::Status status = plan::setKnob(changed, knob.flag, value); !status)
            return status.error();
        auto planned = plan::plan(card, changed, board);
        if (!planned)
            return planned.error();
        if (const auto* why = std::get_if<plan::Infeasible>(&*planned)) {
            sweep.rows.emplace_back();
            sweep.rows.back().peak = why->needed;
        } else {
            const auto& plan = std::get<plan::Plan>(*planned);
            sweep.rows.push_back(rowOf(plan, sim::simulate(plan, board, workload)));
        }
        sweep.rows.back().value = value;
    }
    return sweep;
}

std::string sweepCsv(const Sweep& sweep) {
    std::string text =
        std::string(sweep.knob->key) +
        ",fits,peak_bytes,largest_shard_bytes,pinned_bytes,loads_per_token,bytes_read_per_token,"
        "io_ms_per_token,stall_ms_per_token,decode_ms_per_token,first_token_ms\n";
    for (const SweepRow& r : sweep.rows) {
        text += formatted(
            "%s,%d,%lld", r.value.c_str(), r.feasible ? 1 : 0,
            static_cast<long long>(r.peak.value));
        text += r.feasible ? formatted(
                                 ",%lld,%lld,%.3f,%.0f,%.3f,%.3f,%.3f,%.3f\n",
                                 static_cast<long long>(r.largestShard.value),
                                 static_cast<long long>(r.pinned.value), r.loads, r.bytesRead,
                                 r.readMs, r.stallMs, r.msPerToken, r.firstTokenMs)
                           : std::string(",,,,,,,,\n");
    }
    return text;
}

} // namespace shardscope::app
