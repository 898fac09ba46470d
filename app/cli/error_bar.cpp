// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/error_bar.h"

#include "app/store/run_store.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;

Json errorBar(const std::string& board) {
    auto store = RunStore::open(DataPaths::standard());
    const auto errors =
        store ? (*store)->predictionErrors(QString::fromStdString(board)) : std::nullopt;
    if (!errors)
        return nullptr;
    Json json = toJson(*errors)["errors"];
    json["configurations"] = errors->configurations;
    return json;
}

std::string errorBarText(const Json& error) {
    if (error.is_null())
        return {};
    const Json& e = error["decode_ms_per_token"];
    return base::formatted(
        "\nPredictions for this board were off by %.1f %% in the median and %.1f %% at the 90th\n"
        "percentile of %zu validated configurations (ms a token).\n",
        e["median"].get<double>() * 100, e["p90"].get<double>() * 100,
        error["configurations"].get<std::size_t>());
}

} // namespace shardscope::app
