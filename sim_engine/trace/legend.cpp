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

Bytes bytesAt(const Json& value) {
    const auto n = value.get<std::int64_t>();
    if (n < 0)
        throw Json::other_error::create(501, "a negative size", &value);
    return Bytes(n);
}

/// Views index by it, so it lies within the table or is none.
std::uint32_t shardAt(const Json& value, std::size_t count) {
    const auto n = value.get<std::int64_t>();
    if (n >= static_cast<std::int64_t>(count))
        throw Json::other_error::create(501, "a shard out of range", &value);
    return n < 0 ? base::ShardId::kNone : static_cast<std::uint32_t>(n);
}

/// Throws nlohmann's exceptions, which legendFromJson turns into an Error.
Legend parse(const Json& d) {
    Legend legend;
    legend.planHash = d.at("plan_hash").get<std::string>();
    legend.peak = bytesAt(d.at("peak_bytes"));
    legend.budget = bytesAt(d.at("budget_bytes"));
    const std::size_t shards = d.at("shards").size();
    for (const Json& op : d.at("ops"))
        legend.ops.push_back(
            {op.at(0).get<std::string>(), enumAt<model::OpKind>(op.at(1), model::kOpKindCount),
             op.at(2).get<std::int32_t>(), shardAt(op.at(3), shards)});
    for (const Json& s : d.at("shards"))
        legend.shards.push_back(
            {s.at(0).get<std::string>(), bytesAt(s.at(1)), bytesAt(s.at(2)), s.at(3).get<bool>()});
    for (const Json& b : d.at("buffers"))
        legend.buffers.push_back(
            {b.at(0).get<std::string>(), enumAt<model::Region>(b.at(1), model::kRegionCount),
             bytesAt(b.at(2))});
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
