// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/trace/legend.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace shardscope::trace {

using Json = nlohmann::ordered_json;
using base::Bytes;

Json toJson(const Legend& legend) {
    Json ops = Json::array(), shards = Json::array(), buffers = Json::array();
    for (const OpLegend& op : legend.ops)
        ops.push_back(
            {op.name, static_cast<int>(op.kind), op.layer,
             op.shard == base::ShardId::kNone ? -1 : static_cast<std::int64_t>(op.shard)});
    for (const ShardLegend& s : legend.shards)
        shards.push_back({s.name, s.bytes.value, s.held.value, s.pinned});
    for (const BufferLegend& b : legend.buffers)
        buffers.push_back({b.name, static_cast<int>(b.region), b.bytes.value});
    return {
        {"plan_hash", legend.planHash},
        {"peak_bytes", legend.peak.value},
        {"budget_bytes", legend.budget.value},
        {"ops", std::move(ops)},
        {"shards", std::move(shards)},
        {"buffers", std::move(buffers)},
        {"notes", legend.notes}};
}

namespace {

template <typename Enum>
Enum enumAt(const Json& value, std::size_t count) {
    const auto n = value.get<std::int64_t>();
    if (n < 0 || n >= static_cast<std::int64_t>(count))
        throw Json::other_error::create(501, "a value out of range", &value);
    return static_cast<Enum>(n);
}

/// Throws nlohmann's exceptions, which legendFromJson turns into an Error.
Legend parse(const Json& d) {
    Legend legend;
    legend.planHash = d.at("plan_hash").get<std::string>();
    legend.peak = Bytes(d.at("peak_bytes").get<std::int64_t>());
    legend.budget = Bytes(d.at("budget_bytes").get<std::int64_t>());
    for (const Json& op : d.at("ops")) {
        const auto shard = op.at(3).get<std::int64_t>();
        legend.ops.push_back(
            {op.at(0).get<std::string>(), enumAt<model::OpKind>(op.at(1), model::kOpKindCount),
             op.at(2).get<std::int32_t>(),
             shard < 0 ? base::ShardId::kNone : static_cast<std::uint32_t>(shard)});
    }
    for (const Json& s : d.at("shards"))
        legend.shards.push_back(
            {s.at(0).get<std::string>(), Bytes(s.at(1).get<std::int64_t>()),
             Bytes(s.at(2).get<std::int64_t>()), s.at(3).get<bool>()});
    for (const Json& b : d.at("buffers"))
        legend.buffers.push_back(
            {b.at(0).get<std::string>(), enumAt<model::Region>(b.at(1), model::kRegionCount),
             Bytes(b.at(2).get<std::int64_t>())});
    legend.notes = d.at("notes").get<std::vector<std::string>>();
    return legend;
}

} // namespace

base::Result<Legend> legendFromJson(const Json& document) {
    try {
        return parse(document);
    } catch (const Json::exception& e) {
        return base::Error{
            base::ErrorCode::BadInput, e.what(), "legend of the trace", "record the run again"};
    }
}

} // namespace shardscope::trace
