// SPDX-License-Identifier: GPL-3.0-or-later
// `boards`: what can be planned for.
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/remote/board_source.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using Json = nlohmann::ordered_json;

namespace {

constexpr base::Flag kFlags[] = {{"--json", "", "Profiles in JSON instead of a table."}};

std::vector<std::string> rowOf(const plan::BoardProfile& b, const std::string& kind) {
    return {
        b.name,
        kind,
        base::bytesText(b.ramTotal),
        std::to_string(b.cores),
        base::rateText(b.readBytesPerSecond),
        b.cpu};
}

int list(RunStore* store, bool json) {
    Table table;
    Json all = Json::array();
    table.add({"board", "kind", "RAM", "cores", "reads", "processor"});
    bool localKnown = false;
    if (auto met = store ? store->boards() : base::Result<QList<BoardRecord>>(QList<BoardRecord>());
        met) {
        for (const BoardRecord& board : *met) {
            localKnown |= board.profile.name == "local";
            table.add(rowOf(board.profile, "measured"));
            all.push_back(plan::toJson(board.profile));
        }
    }
    if (!localKnown)
        table.add({"local", "not measured yet", "", "", "", "measured at first need"});
    for (const QString& name : presetBoardNames()) {
        auto board = presetBoard(name);
        if (!board)
            return fail(board.error());
        table.add(rowOf(*board, "preset"));
        all.push_back(plan::toJson(*board));
    }
    if (json)
        printJson(all);
    else
        print(table.text());
    return 0;
}

int show(const std::string& name, RunStore* store) {
    auto board = resolveBoard(QString::fromStdString(name), store);
    if (!board)
        return fail(board.error());
    printJson(plan::toJson(*board));
    return 0;
}

int probe(RunStore* store, bool json) {
    auto board = probeLocalBoard();
    if (!board)
        return fail(board.error());
    if (store)
        if (base::Status status = store->saveBoard(*board); !status)
            return fail(status.error());
    if (json) {
        printJson(plan::toJson(*board));
    } else {
        Table table;
        table.add({"board", "kind", "RAM", "cores", "reads", "processor"});
        table.add(rowOf(*board, "measured"));
        print(table.text());
    }
    return 0;
}

} // namespace

int boardsVerb(const Words& words) {
    auto args = Args::parse(words, kFlags);
    if (!args)
        return fail(args.error());
    const Words& rest = args->rest();
    const std::string what = rest.empty() ? "list" : rest.front();
    auto opened = RunStore::open(DataPaths::standard());
    RunStore* store = opened ? opened->get() : nullptr; // presets need none
    if (what == "list" && rest.size() <= 1)
        return list(store, args->has("--json"));
    if (what == "show" && rest.size() == 2)
        return show(rest[1], store);
    if (what == "probe" && rest.size() == 1)
        return opened ? probe(store, args->has("--json")) : fail(opened.error());
    return fail(
        {ErrorCode::Usage, "there is no such form", "boards " + what,
         "see `shardscope boards --help`"});
}

std::string boardsManual() {
    return "shardscope boards [list] [--json]      presets, and boards that were measured\n"
           "shardscope boards show NAME            a profile in JSON, to copy and change\n"
           "shardscope boards probe [--json]       measures this machine again\n\n"
           "A profile says what a board can do: RAM, read rates, memory bandwidth, rates of the\n"
           "kernels. Presets are estimates from data sheets and say so in \"source\". To measure "
           "a\n"
           "board, run `shardscope-agent probe --json > my-board.json` on it and give the file:\n\n"
           "  shardscope simulate --board my-board.json --model card:whisper-base\n";
}

} // namespace shardscope::app
