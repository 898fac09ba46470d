// SPDX-License-Identifier: GPL-3.0-or-later
// `boards`: what can be planned for, and what can be reached.
#include "app/cli/boards_ssh.h"
#include "app/cli/ssh_flags.h"
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

const std::vector<base::Flag>& flags() {
    static const std::vector<base::Flag> all = [] {
        std::vector<base::Flag> list{
            {"--json", "", "JSON instead of a table."},
            {"--model", "FILE", "doctor: also judge a run of this model."},
            {"--authorize", "", "add: put the public half of --identity on the board."}};
        list.insert(list.end(), sshFlags().begin(), sshFlags().end());
        return list;
    }();
    return all;
}

std::vector<std::string> rowOf(const plan::BoardProfile& b, const std::string& kind) {
    return {
        b.name,
        kind,
        base::bytesText(b.ramTotal),
        std::to_string(b.cores),
        base::rateText(b.readBytesPerSecond),
        b.cpu};
}

/// Boards that were added; empty where there are none.
std::string remoteTable(RunStore* store) {
    auto boards =
        store ? store->remoteBoards() : base::Result<QList<RemoteBoard>>(QList<RemoteBoard>());
    if (!boards || boards->isEmpty())
        return {};
    Table table;
    table.add({"board", "address", "machine", "agent", "last seen", "state"});
    for (const RemoteBoard& b : std::as_const(*boards)) {
        const QString seen = b.lastSeen.isValid()
                                 ? b.lastSeen.toString(QStringLiteral("yyyy-MM-dd hh:mm"))
                                 : QStringLiteral("never");
        std::vector<std::string> row;
        for (const QString& cell : {b.name, b.address, b.machine, b.agent, seen, b.state})
            row.push_back(cell.toStdString());
        table.add(row);
    }
    return table.text();
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
    if (json) {
        printJson(all);
        return 0;
    }
    print(table.text());
    if (const std::string reached = remoteTable(store); !reached.empty())
        print("\n" + reached);
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
    auto board = probeLocalBoard(ProbeDepth::Full);
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
    auto args = Args::parse(words, flags());
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
    const auto word = [&](std::size_t i) { return QString::fromStdString(rest[i]); };
    const bool ofBoard = what == "add" || what == "test" || what == "probe" || what == "doctor" ||
                         what == "fetch" || what == "remove";
    if (ofBoard && !opened)
        return fail(opened.error());
    if (what == "add" && rest.size() == 3)
        return addBoard(word(1), word(2), *store, *args);
    if (what == "test" && rest.size() == 2)
        return testBoard(word(1), *store, *args);
    if (what == "probe" && rest.size() == 2)
        return probeBoard(word(1), *store, *args);
    if (what == "doctor" && rest.size() == 2)
        return examineBoard(word(1), *store, *args);
    if (what == "fetch" && rest.size() == 2)
        return fetchRuns(word(1), *store, *args);
    if (what == "remove" && rest.size() == 2)
        return removeBoard(word(1), *store);
    return fail(
        {ErrorCode::Usage, "there is no such form", "boards " + what,
         "see `shardscope boards --help`"});
}

std::string boardsManual() {
    return "shardscope boards [list] [--json]      presets, boards that were measured or added\n"
           "shardscope boards show NAME            a profile in JSON, to copy and change\n"
           "shardscope boards probe [--json]       measures this machine again, in half a "
           "minute\n\n"
           "Over SSH, where BOARD is a name that was added, or user@host[:port]:\n\n"
           "shardscope boards add NAME user@host[:port]   tests it step by step and keeps it\n"
           "shardscope boards test BOARD [--json]         connection, key, login, space, agent\n"
           "shardscope boards probe BOARD                 measures it: its profile, by its name\n"
           "shardscope boards doctor BOARD [--model FILE] what would hurt a run there\n"
           "shardscope boards fetch BOARD                 runs that ended there unwatched\n"
           "shardscope boards remove NAME                 forgets it; runs and profile stay\n\n"
           "Flags:\n" +
           base::flagHelp(flags()) +
           "\n"
           "A profile says what a board can do: RAM, read rates, memory bandwidth, rates of the\n"
           "kernels. Presets are estimates from data sheets and say so in \"source\". To measure "
           "a\n"
           "board, run `shardscope-agent probe --json > my-board.json` on it and give the file:\n\n"
           "  shardscope simulate --board my-board.json --model card:whisper-base\n";
}

} // namespace shardscope::app
