// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "device_agent/agent/verbs.h"
#include "sim_engine/base/args.h"
#include "sim_engine/base/format.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/plan/shards.h"

namespace shardscope::agent {
namespace {

using Json = nlohmann::ordered_json;
using base::Bytes;

/// "encoder", "decoder", "cross", "vocabulary": the first word of a shard's name says its group.
std::map<std::string, Bytes> totalsByGroup(const std::vector<plan::Shard>& blocks) {
    std::map<std::string, Bytes> totals;
    for (const plan::Shard& block : blocks)
        totals[block.name.substr(0, block.name.find(' '))] += block.bytes;
    return totals;
}

Json document(const model::ModelCard& card, const std::vector<plan::Shard>& blocks) {
    Json json = model::toJson(card), list = Json::array(), totals = Json::object();
    for (const plan::Shard& block : blocks)
        list.push_back(
            {{"name", block.name},
             {"bytes", block.bytes.value},
             {"extents", block.extents.size()}});
    for (const auto& [group, bytes] : totalsByGroup(blocks))
        totals[group] = bytes.value;
    totals["all"] = card.weightBytes().value;
    json["blocks"] = std::move(list);
    json["totals"] = std::move(totals);
    return json;
}

void print(const model::ModelCard& card, const std::vector<plan::Shard>& blocks) {
    std::printf(
        "%s: %s, %zu tensors, %s of weights\n", card.name.c_str(), card.family.c_str(),
        card.tensors.size(), base::bytesText(card.weightBytes()).c_str());
    for (const auto& [key, value] : card.hparams)
        std::printf("  %-16s %lld\n", key.c_str(), static_cast<long long>(value));
    std::puts("blocks:");
    for (const plan::Shard& block : blocks)
        std::printf("  %-24s %s\n", block.name.c_str(), base::bytesText(block.bytes).c_str());
    std::puts("totals:");
    for (const auto& [group, bytes] : totalsByGroup(blocks))
        std::printf("  %-24s %s\n", group.c_str(), base::bytesText(bytes).c_str());
}

} // namespace

base::Result<int> inspectVerb(Words words) {
    const std::vector<base::Flag> flags{
        {"--json", "", "print all of it as JSON"}, {"--help", "", "this text"}};
    auto args = base::Args::parse(words, flags);
    if (!args)
        return args.error();
    if (args->has("--help")) {
        std::printf(
            "shardscope-agent inspect MODEL [--json]\n\nShows hyper-parameters, blocks and "
            "totals from the header of a model file.\n\n%s",
            base::flagHelp(flags).c_str());
        return 0;
    }
    if (args->rest().size() != 1)
        return base::Error{
            base::ErrorCode::Usage, "one model file is needed", "inspect", "see --help"};
    auto card = model::loadCard(args->rest()[0]);
    if (!card)
        return card.error();
    auto graph = model::buildGraph(*card, {});
    if (!graph)
        return graph.error();
    const std::vector<plan::Shard> blocks = plan::cutShards(*card, *graph, {}, {}).shards;
    if (args->has("--json"))
        std::puts(document(*card, blocks).dump(2).c_str());
    else
        print(*card, blocks);
    return 0;
}

} // namespace shardscope::agent
