// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <nlohmann/json.hpp>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::analyze {

using Json = nlohmann::ordered_json;

namespace {

/// Microseconds are finer than anything that repeats.
double rounded(double ms) {
    return std::round(ms * 1e3) / 1e3;
}

Json budgetOf(const plan::RunConfig& config) {
    return config.budget ? Json(config.budget->value) : Json(nullptr);
}

} // namespace

Json resultJson(
    const Summary& s, const plan::Plan& plan, std::string_view loader, std::string_view text) {
    return {
        {"text", text},
        {"segments", Json::array()},
        {"language", plan.config.language},
        {"tokens", s.tokens},
        {"n_tokens", s.tokens.size()},
        {"feasible", true},
        {"timing",
         {{"mel_ms", rounded(s.melMs)},
          {"encode_ms", rounded(s.encodeMs)},
          {"cross_kv_ms", rounded(s.crossKvMs)},
          {"first_token_ms", rounded(s.firstTokenMs)},
          {"decode_ms_per_token", rounded(s.decodeMsPerToken)},
          {"total_ms", rounded(s.totalMs)}}},
        {"memory",
         {{"planned_peak_bytes", plan.peak.value},
          {"arena_peak_bytes", s.arenaPeak},
          {"rss_peak_bytes", s.rssPeak},
          {"budget_bytes", budgetOf(plan.config)}}},
        {"io",
         {{"bytes_read", s.bytesRead},
          {"reads", s.reads},
          {"read_ms", rounded(s.readMs)},
          {"stall_ms", rounded(s.stallMs)},
          {"hidden_fraction", rounded(s.hiddenFraction)},
          {"loader", loader},
          {"loader_reason", ""}, // a run says why, where it was chosen for it
          {"notes", Json::array()}}},
        {"plan",
         {{"shards", plan.shards.size()},
          {"pinned_bytes", plan.pinnedBytes.value},
          {"streamed_bytes_per_token", plan.streamedPerToken.value},
          {"cross_kv_bytes", plan.crossKvBytes.value},
          {"self_kv_bytes", plan.selfKvBytes.value},
          {"hash", plan.hashText()}}},
        {"config", plan::toJson(plan.config)}};
}

Json infeasibleJson(const plan::Infeasible& why, const plan::RunConfig& config) {
    return {
        {"feasible", false},
        {"infeasible",
         {{"needed_bytes", why.needed.value},
          {"allowed_bytes", why.allowed.value},
          {"nearest", why.nearest}}},
        {"config", plan::toJson(config)}};
}

} // namespace shardscope::analyze
