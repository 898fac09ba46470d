// SPDX-License-Identifier: GPL-3.0-or-later
// `plan` and `simulate`: nothing is run.
#include <memory>

#include "app/cli/error_bar.h"
#include "app/cli/grid_flags.h"
#include "app/cli/knob_flags.h"
#include "app/cli/model_flag.h"
#include "app/cli/result_text.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/store/run_store.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/sim/simulate.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;
using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;
using base::Status;

namespace {

const std::vector<Flag>& inputFlags() {
    static const std::vector<Flag> flags = withKnobs(
        {{"--model", "FILE|card:NAME", "A ggml Whisper file, or a built-in card: no file needed."},
         {"--board", "NAME|FILE", "local (default), a preset, a profile, or emulated:NAME."},
         {"--windows", "N", "30 s windows of audio to simulate (default: 1)."},
         {"--json", "", "The document of DESIGN section 6 instead of a table."}});
    return flags;
}

struct Inputs {
    std::shared_ptr<const model::ModelCard> card;
    plan::BoardProfile board;
    plan::RunConfig config;
    sim::Workload workload;
    bool json = false;
};

Result<Inputs> readInputs(const Words& words) {
    auto args = Args::parse(words, inputFlags());
    if (!args)
        return args.error();
    if (Status status = args->noRest(); !status)
        return status.error();
    Inputs in;
    auto config = configFromArgs(*args);
    if (!config)
        return config.error();
    in.config = *config;
    auto windows = args->count("--windows", 1, 10000);
    if (!windows)
        return windows.error();
    in.workload.windows = *windows;
    auto card = cardFromArgs(*args);
    if (!card)
        return card.error();
    in.card = std::move(*card);
    auto board = boardNamed(args->valueOr("--board", "local"));
    if (!board)
        return board.error();
    in.board = std::move(*board);
    in.json = args->has("--json");
    return in;
}

/// The plan, or exit status 3 with what would fit on both channels.
Result<plan::Plan> planFor(const Inputs& in) {
    auto planned = plan::plan(in.card, in.config, in.board);
    if (!planned)
        return planned.error();
    if (const auto* why = std::get_if<plan::Infeasible>(&*planned)) {
        if (in.json)
            printJson(analyze::infeasibleJson(*why, in.config));
        return why->error();
    }
    return std::get<plan::Plan>(std::move(*planned));
}

Json planJson(const plan::Plan& plan) {
    const Json all = analyze::resultJson({}, plan, plan::loaderName(plan.config.loader), "");
    Json shards = Json::array(), arena = Json::array();
    for (const plan::Shard& shard : plan.shards)
        shards.push_back(
            {{"name", shard.name},
             {"bytes", shard.bytes.value},
             {"held_bytes", shard.held.value},
             {"pinned", shard.pinned}});
    for (const plan::Block& block : plan.blocks)
        arena.push_back(
            {{"name", block.name},
             {"region", model::regionName(block.region)},
             {"offset", block.offset.value},
             {"bytes", block.bytes.value},
             {"first", block.lives.front().first},
             {"last", block.lives.back().last}});
    return {
        {"feasible", true},
        {"memory",
         {{"planned_peak_bytes", plan.peak.value},
          {"budget_bytes", all["memory"]["budget_bytes"]}}},
        {"plan", all["plan"]},
        {"shards", std::move(shards)},
        {"arena", std::move(arena)},
        {"config", all["config"]}};
}

std::string planText(const plan::Plan& plan, const Inputs& in) {
    std::string text = "It fits: " + base::bytesText(plan.peak) + " at the peak";
    if (in.config.budget)
        text += " of " + base::bytesText(*in.config.budget);
    const base::Bytes streamed = plan.streamedPerToken;
    text += streamed.value > 0 ? ", " + base::bytesText(streamed) + " streamed for a token.\n\n"
                               : ", all weights stay resident while decoding.\n\n";
    Table shards;
    shards.add({"shard", "file", "held", ""});
    for (const plan::Shard& s : plan.shards)
        shards.add(
            {s.name, base::bytesText(s.bytes), base::bytesText(s.held),
             s.pinned ? "pinned" : "streamed"});
    Table arena;
    arena.add({"arena offset", "bytes", "region", "block"});
    for (const plan::Block& b : plan.blocks)
        arena.add(
            {base::bytesText(b.offset), base::bytesText(b.bytes),
             std::string(model::regionName(b.region)), b.name});
    return text + shards.text() + "\n" + arena.text();
}

std::string manual(const char* head, const char* tail) {
    return std::string(head) + "\n\nFlags:\n" + base::flagHelp(inputFlags()) + "\n" + tail;
}

} // namespace

int planVerb(const Words& words) {
    auto in = readInputs(words);
    if (!in)
        return fail(in.error());
    auto plan = planFor(*in);
    if (!plan)
        return fail(plan.error());
    if (in->json)
        printJson(planJson(*plan));
    else
        print(planText(*plan, *in));
    return 0;
}

int simulateVerb(const Words& words) {
    auto in = readInputs(words);
    if (!in)
        return fail(in.error());
    auto plan = planFor(*in);
    if (!plan)
        return fail(plan.error());
    const trace::Trace trace = sim::simulate(*plan, in->board, in->workload);
    Json result = analyze::resultJson(
        analyze::summarise(trace), *plan, plan::loaderName(plan->config.loader), "");
    if (Json error = errorBar(in->board.name); !error.is_null())
        result["timing"]["error"] = std::move(error);
    if (in->json)
        printJson(result);
    else
        print(
            resultText(result) +
            (result["timing"].contains("error") ? errorBarText(result["timing"]["error"]) : ""));
    return 0;
}

std::string planManual() {
    return manual(
        "shardscope plan --model M --board B [knobs] [--json]\n\n"
        "Decides a run without running it: which weights form which shard, what stays resident,\n"
        "where everything stands in the arena, and the peak. The peak is a bound that a run keeps.",
        "Example: does Whisper small fit in 200 MiB, with weights streamed by sublayer?\n"
        "  shardscope plan --model card:whisper-small --board rk3588-16g-emmc --budget 200MiB \\\n"
        "      --decoder-shard sublayer\n");
}

std::string simulateManual() {
    return manual(
        "shardscope simulate --model M --board B [knobs] [--json]\n\n"
        "Plans, then performs the plan on a virtual clock with the board's rates. --max-tokens is\n"
        "the number of tokens that is simulated. The document is that of `run`, key by key.",
        "Example: what does a second streaming slot gain on a slow flash?\n"
        "  shardscope simulate --model card:whisper-tiny.en --board v851s-512m-nand \\\n"
        "      --budget 48MiB --slots 1\n"
        "  shardscope simulate --model card:whisper-tiny.en --board v851s-512m-nand \\\n"
        "      --budget 48MiB --slots 2\n");
}

} // namespace shardscope::app
