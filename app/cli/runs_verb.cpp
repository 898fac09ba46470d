// SPDX-License-Identifier: GPL-3.0-or-later
// `runs`: the runs that were kept.
#include <algorithm>
#include <array>

#include <QFile>
#include <QSaveFile>

#include "app/cli/result_text.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/replay/export_trace.h"
#include "app/store/run_store.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr base::Flag kFlags[] = {
    {"--json", "", "JSON instead of a table."},
    {"--format", "perfetto|csv|sst", "What to export (default: perfetto)."},
    {"--output", "FILE", "Where to (also -o); without it, stdout."},
};

Json recordJson(const RunRecord& run, const RunStore& store) {
    const auto text = [](const QString& s) { return s.toStdString(); };
    const std::string_view state = runStateName(run.state);
    Json tags = Json::array();
    for (const QString& tag : run.tags)
        tags.push_back(text(tag));
    return {
        {"id", text(run.uuid)},
        {"started", text(run.started.toUTC().toString(Qt::ISODate))},
        {"state", state},
        {"error", text(run.errorLine)},
        {"board", text(run.board)},
        {"model", text(run.model)},
        {"audio", text(run.audio)},
        {"peak_bytes", run.peakBytes},
        {"budget_bytes", run.budgetBytes > 0 ? Json(run.budgetBytes) : Json(nullptr)},
        {"n_tokens", run.tokens},
        {"decode_ms_per_token", run.msPerToken},
        {"total_ms", run.totalMs},
        {"plan_hash", text(run.planHash)},
        {"text", text(run.text)},
        {"notes", text(run.notes)},
        {"tags", std::move(tags)},
        {"starred", run.starred},
        {"recording", text(store.recordingOf(run))},
        {"config", run.config},
        {"result", run.result}};
}

int list(RunStore& store, const Args& args, const Words&) {
    auto runs = store.runs();
    if (!runs)
        return fail(runs.error());
    if (args.has("--json")) {
        Json all = Json::array();
        for (const RunRecord& run : *runs)
            all.push_back(recordJson(run, store));
        printJson(all);
        return 0;
    }
    if (runs->isEmpty()) {
        print("No runs yet. Try `shardscope --demo`.\n");
        return 0;
    }
    Table table;
    table.add({"id", "started", "state", "board", "model", "audio", "peak", "a token", "text"});
    for (const RunRecord& run : *runs)
        table.add(
            {run.uuid.left(8).toStdString(),
             run.started.toString(QStringLiteral("yyyy-MM-dd HH:mm")).toStdString(),
             std::string(runStateName(run.state)), run.board.toStdString(), run.model.toStdString(),
             run.audio.toStdString(), base::bytesText(base::Bytes(run.peakBytes)),
             base::formatted("%.2f ms", run.msPerToken),
             run.text.simplified().left(40).toStdString()});
    print(table.text());
    return 0;
}

int show(RunStore& store, const Args& args, const Words& ids) {
    auto run = store.run(QString::fromStdString(ids[0]));
    if (!run)
        return fail(run.error());
    if (args.has("--json")) {
        printJson(recordJson(*run, store));
        return 0;
    }
    Table head;
    head.add({"run", run->uuid.toStdString()});
    head.add({"started", run->started.toString(Qt::ISODate).toStdString()});
    head.add({"state", std::string(runStateName(run->state))});
    if (!run->errorLine.isEmpty())
        head.add({"error", run->errorLine.toStdString()});
    head.add({"model", run->model.toStdString() + " on " + run->board.toStdString()});
    head.add({"audio", run->audio.toStdString()});
    if (!run->notes.isEmpty())
        head.add({"notes", run->notes.toStdString()});
    head.add({"recording", store.recordingOf(*run).toStdString()});
    print(head.text() + "\n");
    if (run->result.is_null())
        print(run->text.toStdString() + "\n");
    else
        print(resultText(run->result));
    return 0;
}

/// Writes by `write` to the file that --output names, whole or not at all, or to stdout.
template <typename Write>
Status writeOut(const Args& args, Write write) {
    const auto path = args.value("--output");
    if (!path) {
        QFile out;
        if (!out.open(stdout, QIODevice::WriteOnly))
            return Error{ErrorCode::Failed, "stdout cannot be written", "export", "give -o FILE"};
        return write(out);
    }
    QSaveFile out(QString::fromStdString(*path));
    const auto refused = [&] {
        return Error{
            ErrorCode::Failed, "the export cannot be written: " + out.errorString().toStdString(),
            *path, "give another -o FILE"};
    };
    if (!out.open(QIODevice::WriteOnly))
        return refused();
    if (Status status = write(out); !status)
        return status;
    return out.commit() ? Status() : Status(refused());
}

Status copyFile(const QString& from, QIODevice& to) {
    QFile source(from);
    if (!source.open(QIODevice::ReadOnly))
        return Error{
            ErrorCode::BadInput, "the recording cannot be read", from.toStdString(),
            "delete the run, it has lost its recording"};
    while (!source.atEnd()) {
        const QByteArray piece = source.read(1 << 20);
        if (piece.isEmpty() || to.write(piece) != piece.size())
            return Error{
                ErrorCode::Failed, "the export cannot be written", "export",
                "look at free space and permissions"};
    }
    return {};
}

int exportRun(RunStore& store, const Args& args, const Words& ids) {
    const std::string name = args.valueOr("--format", "perfetto");
    const auto format = exportFormatByName(name);
    if (!format && name != "sst")
        return fail(
            {ErrorCode::Usage, "there is no such format", "--format " + name,
             "give perfetto, csv or sst"});
    auto run = store.run(QString::fromStdString(ids[0]));
    if (!run)
        return fail(run.error());
    const QString path = store.recordingOf(*run);
    if (!format) {
        const Status status = writeOut(args, [&](QIODevice& out) { return copyFile(path, out); });
        return status ? 0 : fail(status.error());
    }
    auto content = readRunFile(path.toStdString());
    if (!content)
        return fail(content.error());
    const std::string process = run->model.toStdString() + " on " + run->board.toStdString();
    const Status status = writeOut(
        args, [&](QIODevice& out) { return writeTrace(content->trace(), *format, process, out); });
    return status ? 0 : fail(status.error());
}

/// The result of a run; what its row knows where it did not end well.
Json resultOf(const RunRecord& run) {
    if (!run.result.is_null())
        return run.result;
    return {
        {"memory", {{"arena_peak_bytes", run.peakBytes}}},
        {"timing", {{"decode_ms_per_token", run.msPerToken}, {"total_ms", run.totalMs}}},
        {"config", run.config}};
}

int compare(RunStore& store, const Args& args, const Words& ids) {
    auto a = store.run(QString::fromStdString(ids[0]));
    auto b = store.run(QString::fromStdString(ids[1]));
    if (!a || !b)
        return fail(!a ? a.error() : b.error());
    const auto deltas = compareResults(resultOf(*a), resultOf(*b));
    if (args.has("--json")) {
        Json all = Json::array();
        for (const FigureDelta& d : deltas)
            all.push_back(
                {{"figure", d.name}, {"a", d.before}, {"b", d.after}, {"change", d.change}});
        printJson(
            {{"a", a->uuid.toStdString()},
             {"b", b->uuid.toStdString()},
             {"same_text", a->text == b->text},
             {"figures", std::move(all)}});
        return 0;
    }
    Table table;
    table.add({"", a->uuid.left(8).toStdString(), b->uuid.left(8).toStdString(), "change"});
    for (const FigureDelta& d : deltas)
        table.add({d.name, d.before, d.after, d.change});
    table.add({"text", "", "", a->text == b->text ? "same" : "differs"});
    print(table.text());
    return 0;
}

int removeRuns(RunStore& store, const Args&, const Words& ids) {
    for (const std::string& id : ids) {
        auto run = store.run(QString::fromStdString(id));
        if (!run)
            return fail(run.error());
        if (Status status = store.remove(run->uuid); !status)
            return fail(status.error());
    }
    return 0;
}

/// The document of a file in JSON; none where it is another kind of file.
std::optional<Json> jsonIn(const std::string& path) {
    constexpr qint64 kLargest = 256 << 20;
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly) || file.size() > kLargest ||
        !file.peek(256).trimmed().startsWith('{'))
        return std::nullopt;
    const std::string text = file.readAll().toStdString();
    return Json::parse(text, nullptr, false);
}

int import(RunStore& store, const Args&, const Words& files) {
    for (const std::string& file : files) {
        if (const auto document = jsonIn(file)) {
            auto records = validationsFromJson(*document, QString::fromStdString(file));
            if (!records)
                return fail(records.error());
            auto taken = store.saveValidations(*records);
            if (!taken)
                return fail(taken.error());
            print(base::formatted(
                "%d of %d results are new\n", *taken, static_cast<int>(records->size())));
            continue;
        }
        auto id = store.import(QString::fromStdString(file));
        if (!id)
            return fail(id.error());
        print(id->toStdString() + "\n");
    }
    return 0;
}

struct Form {
    std::string_view name;
    std::size_t least, most; ///< words after the name
    int (*run)(RunStore&, const Args&, const Words&);
};

constexpr std::array<Form, 6> kForms{{
    {"list", 0, 0, list},
    {"show", 1, 1, show},
    {"export", 1, 1, exportRun},
    {"compare", 2, 2, compare},
    {"delete", 1, 1000, removeRuns},
    {"import", 1, 1000, import},
}};

} // namespace

int runsVerb(const Words& words) {
    Words usual = words;
    std::replace(usual.begin(), usual.end(), std::string("-o"), std::string("--output"));
    auto args = Args::parse(usual, kFlags);
    if (!args)
        return fail(args.error());
    Words ids = args->rest();
    const std::string name = ids.empty() ? "list" : ids.front();
    if (!ids.empty())
        ids.erase(ids.begin());
    const auto form =
        std::find_if(kForms.begin(), kForms.end(), [&](const Form& f) { return f.name == name; });
    if (form == kForms.end() || ids.size() < form->least || ids.size() > form->most)
        return fail(
            {ErrorCode::Usage,
             form == kForms.end() ? "there is no such form" : "a run is missing or too many",
             "runs " + name, "see `shardscope runs --help`"});
    auto store = RunStore::open(DataPaths::standard());
    if (!store)
        return fail(store.error());
    return form->run(**store, *args, ids);
}

std::string runsManual() {
    return "shardscope runs [list] [--json]            newest first\n"
           "shardscope runs show ID [--json]           all that is known of one\n"
           "shardscope runs compare A B [--json]       figures and knobs side by side\n"
           "shardscope runs export ID [--format F] [-o FILE]\n"
           "shardscope runs import FILE...             takes recordings (.sst) in, and results of\n"
           "                                           `validate --json`; each once\n"
           "shardscope runs delete ID...               with their recordings\n\n"
           "An ID may be cut short as long as it is clear. Formats: perfetto (open it in\n"
           "ui.perfetto.dev or chrome://tracing), csv (a line an event), sst (the recording).\n\n"
           "Flags:\n" +
           base::flagHelp(kFlags) +
           "\nExample:\n  shardscope runs export 3f2a --format perfetto -o run.json\n";
}

} // namespace shardscope::app
