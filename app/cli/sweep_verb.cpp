// SPDX-License-Identifier: GPL-3.0-or-later
// `sweep`: what one knob does, as a table, a file of values and a picture.
#include <QSaveFile>

#include "app/cli/grid_flags.h"
#include "app/cli/knob_flags.h"
#include "app/cli/model_flag.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/replay/knob_sweep.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

const std::vector<Flag>& sweepFlags() {
    static const std::vector<Flag> flags = withKnobs(
        {{"--model", "FILE|card:NAME", "A ggml Whisper file, or a built-in card: no file needed."},
         {"--board", "NAME|FILE", "local (default), a preset, a profile, or emulated:NAME."},
         {"--over", "KNOB", "The knob that is swept (default: decoder-shard)."},
         {"--values", "A,B,...", "Its values (default: a list for each knob)."},
         {"--windows", "N", "30 s windows of audio to simulate (default: 1)."},
         {"--svg", "FILE", "Draws the picture."},
         {"--csv", "FILE", "Writes the values."},
         {"--json", "", "One document instead of a table."}});
    return flags;
}

struct Order {
    std::shared_ptr<const model::ModelCard> card;
    plan::RunConfig config;
    const plan::Knob* knob = nullptr;
    std::vector<std::string> values;
    sim::Workload workload;
    std::string svg, csv;
    bool json = false;
};

Status readKnob(const Args& args, Order& order) {
    const std::string name = args.valueOr("--over", "decoder-shard");
    order.knob = plan::findKnob(name.starts_with("--") ? name : "--" + name);
    if (!order.knob)
        order.knob = plan::findKnob(name); // by its key
    if (!order.knob)
        return Error{
            ErrorCode::Usage, "there is no such knob", "--over " + name,
            "give one of the knobs of --help, such as slots"};
    if (args.has(order.knob->flag))
        return Error{
            ErrorCode::Usage, "the knob is swept", std::string(order.knob->flag),
            "leave it out, or name another with --over"};
    std::string list = args.valueOr("--values", "");
    if (list.empty())
        order.values = sweepValues(order.knob->key);
    for (std::size_t comma; !list.empty(); list.erase(0, comma)) {
        comma = std::min(list.find(','), list.size());
        order.values.push_back(list.substr(0, comma));
        comma += comma < list.size() ? 1 : 0;
    }
    if (order.values.empty() || order.values.size() > 64)
        return Error{
            ErrorCode::Usage, "the values are missing or too many", "--values",
            "give up to 64 of them with commas between, such as 20MiB,30MiB"};
    return {};
}

Result<Order> readOrder(const Words& words) {
    auto args = Args::parse(words, sweepFlags());
    if (!args)
        return args.error();
    if (Status status = args->noRest(); !status)
        return status.error();
    Order order;
    auto config = configFromArgs(*args);
    if (!config)
        return config.error();
    order.config = *config;
    // What a shard's size costs shows where nothing stays, unless it is said what may stay.
    if (!args->has("--pin") && !args->has("--budget"))
        order.config.pin.kind = plan::PinChoice::Kind::None;
    if (Status status = readKnob(*args, order); !status)
        return status.error();
    auto windows = args->count("--windows", 1, 10000);
    if (!windows)
        return windows.error();
    order.workload.windows = *windows;
    auto card = cardFromArgs(*args);
    if (!card)
        return card.error();
    order.card = std::move(*card);
    order.svg = args->valueOr("--svg", "");
    order.csv = args->valueOr("--csv", "");
    order.json = args->has("--json");
    return order;
}

Status writeFile(const std::string& path, const std::string& text, std::string_view flag) {
    QSaveFile file(QString::fromStdString(path));
    const auto size = static_cast<qint64>(text.size());
    if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), size) != size || !file.commit())
        return Error{
            ErrorCode::Failed, "cannot be written: " + file.errorString().toStdString(), path,
            "give another " + std::string(flag) + " FILE"};
    return {};
}

Json sweepJson(const Sweep& sweep) {
    Json rows = Json::array();
    for (const SweepRow& r : sweep.rows) {
        Json row{{"value", r.value}, {"feasible", r.feasible}};
        if (!r.feasible) {
            row["needed_bytes"] = r.peak.value;
        } else {
            row["memory"] = {
                {"planned_peak_bytes", r.peak.value},
                {"largest_shard_bytes", r.largestShard.value},
                {"pinned_bytes", r.pinned.value}};
            row["token"] = {
                {"loads", r.loads},
                {"bytes_read", r.bytesRead},
                {"io_ms", r.readMs},
                {"stall_ms", r.stallMs},
                {"decode_ms", r.msPerToken}};
            row["first_token_ms"] = r.firstTokenMs;
        }
        rows.push_back(std::move(row));
    }
    return {
        {"model", sweep.model},
        {"board", sweep.board},
        {"knob", sweep.knob->key},
        {"rows", std::move(rows)},
        {"config", plan::toJson(sweep.config)}};
}

std::string sweepText(const Sweep& sweep) {
    const auto ms = [](double value) {
        return base::timeText(base::Nanos(static_cast<std::int64_t>(value * 1e6)));
    };
    Table table;
    table.add(
        {std::string(sweep.knob->label), "peak", "largest shard", "loads", "read", "I/O", "stall",
         "a token", "first token"});
    for (const SweepRow& r : sweep.rows) {
        if (!r.feasible) {
            table.add({r.value, "needs " + base::bytesText(r.peak)});
            continue;
        }
        table.add(
            {r.value, base::bytesText(r.peak), base::bytesText(r.largestShard),
             base::formatted("%.1f", r.loads),
             base::bytesText(base::Bytes(static_cast<std::int64_t>(r.bytesRead))), ms(r.readMs),
             ms(r.stallMs), ms(r.msPerToken), ms(r.firstTokenMs)});
    }
    return sweep.model + " on " + sweep.board +
           "; loads, read, I/O and stall are those of a token:\n\n" + table.text();
}

} // namespace

int sweepVerb(const Words& words) {
    Words rest = words;
    auto boards = takeBoards(rest);
    if (!boards)
        return fail(boards.error());
    if (boards->size() > 1)
        return fail(
            {ErrorCode::Usage, "one board at a time", "--board " + (*boards)[1], "give it once"});
    auto order = readOrder(rest);
    if (!order)
        return fail(order.error());
    auto board = boardNamed(boards->front());
    if (!board)
        return fail(board.error());
    auto sweep =
        sweepKnob(order->card, *board, order->config, *order->knob, order->values, order->workload);
    if (!sweep)
        return fail(sweep.error());
    if (!order->svg.empty())
        if (Status status = writeFile(order->svg, sweepSvg(*sweep), "--svg"); !status)
            return fail(status.error());
    if (!order->csv.empty())
        if (Status status = writeFile(order->csv, sweepCsv(*sweep), "--csv"); !status)
            return fail(status.error());
    if (order->json)
        printJson(sweepJson(*sweep));
    else
        print(sweepText(*sweep));
    return 0;
}

std::string sweepManual() {
    return "shardscope sweep --model M --board B [--over KNOB] [--svg FILE] [--csv FILE] "
           "[--json]\n\n"
           "What one knob does, value by value: peak, shards that are loaded for a token, the "
           "time\n"
           "of their reads, and the time of a token. By default the size of the decoder's shards,\n"
           "with nothing pinned, so that it shows by itself; --budget or --pin change that.\n\n"
           "Flags:\n" +
           base::flagHelp(sweepFlags()) +
           "\nExamples: a table and a picture; then what cross KV types cost within a budget\n"
           "  shardscope sweep --model card:whisper-base.en --board v851s-512m-nand --svg "
           "shards.svg\n"
           "  shardscope sweep --model card:whisper-small --board rk3588-16g-emmc --over cross-kv "
           "\\\n"
           "      --budget 200MiB\n";
}

} // namespace shardscope::app
