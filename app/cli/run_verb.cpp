// SPDX-License-Identifier: GPL-3.0-or-later
// `run`: the local agent runs a model, the run is kept.
#include <QEventLoop>
#include <QFileInfo>

#include "app/cli/interrupt.h"
#include "app/cli/knob_flags.h"
#include "app/cli/result_text.h"
#include "app/cli/run_headless.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/remote/board_source.h"
#include "app/remote/run_controller.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;

namespace {

const std::vector<Flag>& runFlags() {
    static const std::vector<Flag> flags = withKnobs(
        {{"--board", "local", "Where to run: this machine (default)."},
         {"--model", "FILE", "A ggml Whisper file as whisper.cpp writes it."},
         {"--audio", "FILE", "WAV, FLAC, OGG or MP3; converted to 16 kHz mono if need be."},
         {"--json", "", "The result document instead of text."}});
    return flags;
}

Result<RunOrder> readOrder(const Args& args) {
    if (!args.rest().empty())
        return Error{ErrorCode::Usage, "a word too many", args.rest().front(), "see --help"};
    RunOrder order;
    order.board = QString::fromStdString(args.valueOr("--board", "local"));
    if (order.board != kLocalBoard)
        return Error{
            ErrorCode::Usage, "this version runs on this machine only",
            "--board " + order.board.toStdString(),
            "give --board local, or predict other boards with `shardscope simulate`"};
    auto config = configFromArgs(args);
    if (!config)
        return config.error();
    order.config = *config;
    for (auto [flag, field] : {std::pair{"--model", &order.model}, {"--audio", &order.audio}}) {
        auto value = args.required(flag);
        if (!value)
            return value.error();
        *field = QString::fromStdString(*value);
    }
    if (order.model.startsWith(QLatin1String("card:")))
        return Error{
            ErrorCode::BadInput, "a card has no weights to run", order.model.toStdString(),
            "give a model file, or use `shardscope simulate`"};
    return order;
}

} // namespace

std::optional<Error> runToEnd(RunStore* store, const RunOrder& order, RunDocument& document) {
    JobRunner jobs;
    RunController controller(store, &jobs, &document);
    QEventLoop loop;
    std::optional<Error> broken;
    QObject::connect(
        &controller, &RunController::ended, &loop, [&](const std::optional<Error>& error) {
            broken = error;
            loop.quit();
        });
    QObject::connect(&controller, &RunController::recordingFailed, &loop, [](const QString& line) {
        // The run is worth more than its recording: told, and gone on.
        std::fprintf(stderr, "shardscope: the run is not kept: %s\n", qUtf8Printable(line));
    });
    Interrupt interrupt;
    QObject::connect(&interrupt, &Interrupt::asked, &controller, &RunController::stop);
    if (base::Status status = controller.start(order); !status)
        return status.error();
    loop.exec();
    return broken;
}

int runRunVerb(const Words& words) {
    auto args = Args::parse(words, runFlags());
    if (!args)
        return fail(args.error());
    auto order = readOrder(*args);
    if (!order)
        return fail(order.error());
    auto store = RunStore::open(DataPaths::standard());
    if (!store)
        return fail(store.error());
    RunDocument document;
    const bool json = args->has("--json");
    if (const auto error = runToEnd(store->get(), *order, document)) {
        if (json && error->code == ErrorCode::DoesNotFit)
            printJson(
                {{"feasible", false},
                 {"error", errorToJson(*error)},
                 {"config", plan::toJson(order->config)}});
        return fail(*error);
    }
    const std::string id = document.uuid().left(8).toStdString();
    if (json)
        printJson(document.result());
    else
        print(resultText(document.result()) + (id.empty() ? "" : "\nkept as run " + id + "\n"));
    if (document.state() == RunState::Stopped)
        return fail({ErrorCode::Failed, "stopped before its end", "run " + id, "start it again"});
    return 0;
}

std::string runManual() {
    return "shardscope run --board local --model M --audio A [knobs] [--json]\n\n"
           "Runs the model in shardscope-agent, records every event of it, and keeps the run:\n"
           "`shardscope runs list` shows it, `shardscope` opens it in the window.\n\nFlags:\n" +
           base::flagHelp(runFlags()) +
           "\nExample: base.en in 90 MiB, read at the speed of a slow flash\n"
           "  shardscope run --model ggml-base.en.bin --audio talk.mp3 --budget 90MiB \\\n"
           "      --emulate-read 30MB/s\n";
}

} // namespace shardscope::app
