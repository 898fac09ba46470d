// SPDX-License-Identifier: GPL-3.0-or-later
// `run`: an agent, here or on a board, runs a model; the run is kept.
#include <QEventLoop>
#include <QFileInfo>

#include "app/cli/boards_ssh.h"
#include "app/cli/interrupt.h"
#include "app/cli/knob_flags.h"
#include "app/cli/result_text.h"
#include "app/cli/run_headless.h"
#include "app/cli/ssh_flags.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/remote/board_source.h"
#include "app/remote/emulate/emulated_board.h"
#include "app/remote/run_controller.h"
#include "app/remote/ssh/ssh_transport.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;

namespace {

const std::vector<Flag>& runFlags() {
    static const std::vector<Flag> flags = [] {
        std::vector<Flag> all{
            {"--board", "WHERE",
             "This machine (local), emulated:NAME, USER@HOST[:PORT], or a board that was added."},
            {"--model", "FILE", "A ggml Whisper file as whisper.cpp writes it."},
            {"--audio", "FILE", "WAV, FLAC, OGG or MP3; converted to 16 kHz mono if need be."},
            {"--cold", "",
             "Begin with nothing of the model in the page cache, as after a start of the board."},
            {"--json", "", "The result document instead of text."}};
        all.insert(all.end(), sshFlags().begin(), sshFlags().end());
        return withKnobs(all);
    }();
    return flags;
}

Result<RunOrder> readOrder(const Args& args) {
    if (base::Status status = args.noRest(); !status)
        return status.error();
    RunOrder order;
    order.board = QString::fromStdString(args.valueOr("--board", "local"));
    auto config = configFromArgs(args);
    if (!config)
        return config.error();
    order.config = *config;
    order.isCold = args.has("--cold");
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

void goOverSsh(RunController& controller, const SshTarget& target, const SshOptions& options) {
    controller.setTransport([target, options] {
        auto transport = std::make_unique<SshTransport>(target, options);
        askOnTerminal(transport->questions());
        return transport;
    });
    controller.setOutlivesLink();
    QObject::connect(&controller, &RunController::phaseChanged, &controller, &showPhase);
}

/// Says on stderr what holds the run, and takes it down for the result.
void tellEmulation(RunController& controller, nlohmann::ordered_json& held) {
    QObject::connect(&controller, &RunController::emulating, [](const QString& line) {
        std::fprintf(stderr, "%s\n", qUtf8Printable(line));
    });
    QObject::connect(&controller, &RunController::ended, [&controller, &held] {
        held = controller.emulation();
    });
}

} // namespace

std::optional<Error> runToEnd(
    RunStore* store, const RunOrder& order, RunDocument& document,
    const std::function<void(RunController&)>& prepare) {
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
    if (prepare)
        prepare(controller);
    Interrupt interrupt;
    QObject::connect(&interrupt, &Interrupt::asked, &controller, &RunController::stop);
    if (base::Status status = controller.start(order); !status)
        return status.error();
    loop.exec();
    return broken;
}

Result<std::function<void(RunController&)>>
wayTo(const QString& board, RunStore& store, const Args& args) {
    std::function<void(RunController&)> way;
    if (isEmulated(board)) {
        way = [](RunController& controller) {
            QObject::connect(&controller, &RunController::emulating, [](const QString& line) {
                std::fprintf(stderr, "%s\n", qUtf8Printable(line));
            });
        };
    } else if (board != kLocalBoard) {
        auto reached = reachBoard(board, store, args);
        if (!reached)
            return reached.error();
        way = [reached = *reached](RunController& controller) {
            goOverSsh(controller, reached.target, reached.options);
        };
    }
    return way;
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
    std::function<void(RunController&)> prepare;
    nlohmann::ordered_json held;
    if (isEmulated(order->board)) {
        prepare = [&held](RunController& controller) { tellEmulation(controller, held); };
    } else {
        auto way = wayTo(order->board, **store, *args);
        if (!way)
            return fail(way.error());
        prepare = *std::move(way);
    }
    RunDocument document;
    const bool json = args->has("--json");
    const auto broken = runToEnd(store->get(), *order, document, prepare);
    clearPhase();
    if (const auto& error = broken) {
        if (json && error->code == ErrorCode::DoesNotFit)
            printJson(
                {{"feasible", false},
                 {"error", errorToJson(*error)},
                 {"config", plan::toJson(order->config)}});
        return fail(*error);
    }
    const std::string id = document.uuid().left(8).toStdString();
    nlohmann::ordered_json result = document.result();
    if (!held.is_null())
        result["emulation"] = held;
    if (json)
        printJson(result);
    else
        print(resultText(document.result()) + (id.empty() ? "" : "\nkept as run " + id + "\n"));
    if (document.state() == RunState::Stopped)
        return fail({ErrorCode::Failed, "stopped before its end", "run " + id, "start it again"});
    return 0;
}

std::string runManual() {
    return "shardscope run --board local|emulated:NAME|USER@HOST[:PORT] --model M --audio A "
           "[knobs]\n"
           "    [--json]\n\n"
           "Runs the model in shardscope-agent, records every event of it, and keeps the run:\n"
           "`shardscope runs list` shows it, `shardscope` opens it in the window.\n\n"
           "On a board it needs SSH and nothing else: agent, model and audio are put there once,\n"
           "checked by their hash, and no port is opened. ~/.ssh/config, ssh-agent and "
           "known_hosts\n"
           "are honoured; a host that is not known needs --accept-new-host.\n\n"
           "On emulated:NAME (a preset, a measured board or a profile) this machine is held to "
           "the\n"
           "board's RAM, read speed and processor: by control groups where the system permits "
           "them,\n"
           "else by --budget and --emulate-read; stderr and \"emulation\" in the JSON say which.\n"
           "SHARDSCOPE_EMULATE=soft in the environment asks for the latter.\n\nFlags:\n" +
           base::flagHelp(runFlags()) +
           "\nExample: base.en in 90 MiB, read at the speed of a slow flash\n"
           "  shardscope run --model ggml-base.en.bin --audio talk.mp3 --budget 90MiB \\\n"
           "      --emulate-read 30MB/s\n"
           "Example: the same as if on a Raspberry Pi 3\n"
           "  shardscope run --board emulated:rpi3b-1g-sd --model ggml-base.en.bin --audio a.mp3\n";
}

} // namespace shardscope::app
