// SPDX-License-Identifier: GPL-3.0-or-later
// `tune`: the best settings of a model on a board, and real runs of them.
#include <cstdio>
#include <unistd.h>

#include <QElapsedTimer>
#include <QEventLoop>

#include "app/cli/error_bar.h"
#include "app/cli/grid_flags.h"
#include "app/cli/interrupt.h"
#include "app/cli/knob_flags.h"
#include "app/cli/model_flag.h"
#include "app/cli/run_headless.h"
#include "app/cli/ssh_flags.h"
#include "app/cli/terminal.h"
#include "app/cli/tune_text.h"
#include "app/cli/tune_verify.h"
#include "app/cli/verbs.h"
#include "app/remote/sample.h"
#include "app/replay/tune_job.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using analyze::Accuracy;
using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

const std::vector<Flag>& tuneFlags() {
    static const std::vector<Flag> flags = [] {
        std::vector<Flag> all{
            {"--model", "FILE|card:NAME",
             "A ggml Whisper file, or a built-in card: no file needed."},
            {"--board", "NAME|FILE", "local (default), a preset or a profile; may stand again."},
            {"--max-ms-per-token", "MS", "Leaves out settings that are slower than this."},
            {"--max-first-token", "MS", "Leaves out settings whose first token comes later."},
            {"--accuracy", "exact|near|lossy",
             "near (default) allows q8; lossy also q4, half of the audio."},
            {"--allow-lossy", "", "The same as --accuracy lossy."},
            {"--page-cache", "", "Also loaders that lean on RAM beside the budget."},
            {"--windows", "N", "30 s windows of the audio: batches can be as large (default: 1)."},
            {"--verify", "N", "Runs the N fastest points for real and keeps the runs."},
            {"--audio", "FILE", "What --verify runs on (default: a clip of the sample)."},
            {"--part", "I/N", "Only this share of the boards, or of the runs of --verify."},
            {"--json", "", "One document instead of tables."}};
        all.insert(all.end(), sshFlags().begin(), sshFlags().end());
        return withKnobs(all);
    }();
    return flags;
}

struct Order {
    std::shared_ptr<const model::ModelCard> card;
    analyze::TuneQuestion question;
    Verification verification;
    Args args; ///< for those who reach boards
    bool json = false;
};

/// The value of a flag that is a number above 0, if it was given.
Result<std::optional<double>> positive(const Args& args, std::string_view flag) {
    const auto text = args.value(flag);
    if (!text)
        return std::optional<double>();
    const auto value = base::parseReal(*text);
    if (!value || *value <= 0)
        return Error{
            ErrorCode::Usage, "\"" + text->substr(0, 60) + "\" is not possible", std::string(flag),
            "give milliseconds, such as 250"};
    return std::optional<double>(*value);
}

Result<Accuracy> accuracyFrom(const Args& args) {
    const std::string name =
        args.valueOr("--accuracy", args.has("--allow-lossy") ? "lossy" : "near");
    for (const auto& [word, accuracy] :
         {std::pair{"exact", Accuracy::Exact},
          {"near", Accuracy::Near},
          {"lossy", Accuracy::Lossy}})
        if (name == word)
            return accuracy;
    return Error{
        ErrorCode::Usage, "\"" + name.substr(0, 60) + "\" is not possible", "--accuracy",
        "give exact, near or lossy"};
}

Result<analyze::TuneQuestion> questionFrom(const Args& args) {
    analyze::TuneQuestion question;
    auto config = configFromArgs(args);
    if (!config)
        return config.error();
    question.start = *config;
    for (const plan::Knob& knob : plan::knobs())
        if (args.has(knob.flag))
            question.fixed.push_back(knob.key);
    auto token = positive(args, "--max-ms-per-token");
    auto first = positive(args, "--max-first-token");
    auto accuracy = accuracyFrom(args);
    auto windows = args.count("--windows", 1, 10000);
    for (const Error* error :
         {token ? nullptr : &token.error(), first ? nullptr : &first.error(),
          accuracy ? nullptr : &accuracy.error(), windows ? nullptr : &windows.error()})
        if (error)
            return *error;
    question.maxMsPerToken = *token;
    question.maxFirstTokenMs = *first;
    question.accuracy = *accuracy;
    question.windows = *windows;
    question.pageCache = args.has("--page-cache");
    return question;
}

Result<Verification> verificationFrom(const Args& args, const std::string& model) {
    Verification v;
    v.model = model;
    auto part = partFromText(args.valueOr("--part", "1/1"));
    if (!part)
        return part.error();
    v.part = *part;
    if (!args.has("--verify")) {
        if (args.has("--audio"))
            return Error{
                ErrorCode::Usage, "nothing is run", "--audio", "give --verify N, or leave it out"};
        return v;
    }
    auto runs = args.count("--verify", 0, 1000);
    if (!runs)
        return runs.error();
    v.count = *runs;
    if (model.starts_with("card:"))
        return Error{
            ErrorCode::BadInput, "a card has no weights to run", model,
            "give a model file, or leave --verify out"};
    v.audio = args.valueOr("--audio", "");
    if (v.audio.empty()) {
        auto clip = resourceFile(QStringLiteral("clips/syn-007.wav"));
        if (!clip)
            return clip.error();
        v.audio = clip->toStdString();
    }
    return v;
}

Result<Order> readOrder(const Words& words) {
    auto args = Args::parse(words, tuneFlags());
    if (!args)
        return args.error();
    if (Status status = args->noRest(); !status)
        return status.error();
    auto model = args->required("--model");
    if (!model)
        return model.error();
    auto question = questionFrom(*args);
    if (!question)
        return question.error();
    auto verification = verificationFrom(*args, *model);
    if (!verification)
        return verification.error();
    auto card = cardFromArgs(*args);
    if (!card)
        return card.error();
    return Order{
        std::move(*card), std::move(*question), std::move(*verification), *args,
        args->has("--json")};
}

/// Shows how far the search is, where somebody looks on.
void showProgress(const TuneJob& tune) {
    if (::isatty(STDERR_FILENO) != 1)
        return;
    std::fprintf(
        stderr, "\rsearching: %3.0f %%, %lld settings tried, %zu points \033[K",
        100 * tune.progress(), static_cast<long long>(tune.result().tried),
        tune.result().front.size());
}

TuneAnswer search(const Order& order, const plan::BoardProfile& board) {
    TuneAnswer answer{order.card, board, order.question, {0, order.question.windows}, {}, 0,
                      {},         {}};
    JobRunner jobs;
    TuneJob tune(&jobs);
    QEventLoop loop;
    Interrupt interrupt;
    QElapsedTimer clock;
    QObject::connect(&interrupt, &Interrupt::asked, &tune, &TuneJob::cancel);
    QObject::connect(&tune, &TuneJob::progressChanged, &loop, [&] { showProgress(tune); });
    QObject::connect(&tune, &TuneJob::finished, &loop, &QEventLoop::quit);
    clock.start();
    tune.start(order.card, board, order.question, answer.workload);
    loop.exec();
    answer.seconds = static_cast<double>(clock.elapsed()) * 1e-3;
    answer.result = tune.result();
    answer.error = errorBar(board.name);
    if (::isatty(STDERR_FILENO) == 1)
        std::fputs("\r\033[K", stderr);
    return answer;
}

/// Why the front is empty.
Error nothingFound(const TuneAnswer& answer) {
    const analyze::TuneResult& r = answer.result;
    const analyze::TuneQuestion& q = answer.question;
    if (!r.complete)
        return {ErrorCode::Failed, "stopped before anything was found", "tune", "start it again"};
    const base::Bytes limit =
        q.start.budget.value_or(answer.board.ramTotal - answer.board.ramReserved);
    if (r.leastPeak > limit)
        return {
            ErrorCode::DoesNotFit,
            "no settings fit: the least needs " + base::bytesText(r.leastPeak) + " of " +
                base::bytesText(limit),
            "--budget", "give a larger budget, or --allow-lossy"};
    const auto told = [](const std::optional<double>& ms) {
        return base::formatted("%.1f ms", ms.value_or(0));
    };
    return {
        ErrorCode::DoesNotFit, "no settings in " + base::bytesText(limit) + " are that fast",
        q.maxMsPerToken ? "--max-ms-per-token" : "--max-first-token",
        "the least is " + told(r.leastMsPerToken) + " a token and " + told(r.leastFirstTokenMs) +
            " to the first"};
}

void show(const Order& order, const std::vector<TuneAnswer>& answers) {
    if (order.json) {
        Json all = Json::array();
        for (const TuneAnswer& answer : answers)
            all.push_back(tuneJson(answer));
        return printJson(all.size() == 1 ? all.front() : Json{{"boards", std::move(all)}});
    }
    std::string text;
    for (const TuneAnswer& answer : answers) {
        text += (text.empty() ? "" : "\n") + tuneText(answer);
        if (answer.verified.is_array() && !answer.verified.empty())
            text += "\nRun for real; the runs are kept:\n\n" + verifiedText(answer.verified);
    }
    print(text);
}

/// Settings that no board could plan are told before any search.
Status check(const Order& order, const plan::BoardProfile& board) {
    const auto planned = plan::plan(order.card, order.question.start, board);
    return planned ? Status() : Status(planned.error());
}

Status tuneBoard(
    const Order& order, const std::string& name, std::size_t boardIndex, RunStore* store,
    std::vector<TuneAnswer>& answers) {
    Verification v = order.verification;
    if (v.count > 0) {
        auto way = wayTo(QString::fromStdString(name), *store, order.args);
        if (!way)
            return way.error();
        v.way = *std::move(way);
    }
    auto board = boardNamed(name);
    if (!board)
        return board.error();
    if (Status status = check(order, *board); !status)
        return status;
    answers.push_back(search(order, *board));
    TuneAnswer& answer = answers.back();
    if (answer.result.front.empty()) {
        const Error error = nothingFound(answer);
        answers.pop_back();
        return error;
    }
    if (!answer.result.complete)
        return Error{ErrorCode::Failed, "stopped before its end", "tune", "start it again"};
    v.board = name;
    v.firstItem = boardIndex * static_cast<std::size_t>(v.count);
    return v.count > 0 ? verify(v, store, answer) : Status();
}

} // namespace

int tuneVerb(const Words& words) {
    Words rest = words;
    auto boards = takeBoards(rest);
    if (!boards)
        return fail(boards.error());
    auto order = readOrder(rest);
    if (!order)
        return fail(order.error());
    std::unique_ptr<RunStore> store;
    if (order->verification.count > 0) {
        auto opened = RunStore::open(DataPaths::standard());
        if (!opened)
            return fail(opened.error());
        store = std::move(*opened);
    }
    std::vector<TuneAnswer> answers;
    const Verification& v = order->verification;
    for (std::size_t i = 0; i < boards->size(); ++i) {
        bool mine = v.count == 0 && v.part.has(i);
        for (std::size_t k = 0; k < static_cast<std::size_t>(v.count); ++k)
            mine = mine || v.part.has(i * static_cast<std::size_t>(v.count) + k);
        if (!mine)
            continue;
        if (Status status = tuneBoard(*order, (*boards)[i], i, store.get(), answers); !status) {
            if (!answers.empty())
                show(*order, answers);
            return fail(status.error());
        }
    }
    show(*order, answers);
    return 0;
}

std::string tuneManual() {
    return "shardscope tune --model M --board B [--budget N] [limits] [knobs] [--json]\n\n"
           "Finds the settings that no others beat: for each amount of memory, those with the\n"
           "shortest time a token, by some thousand simulated runs. Knobs that you give stay as\n"
           "they are; all others are searched. Each point tells why it has its settings. Without "
           "a\n"
           "budget the limit is what the board has free. Ctrl+C ends the search and prints what "
           "it\n"
           "has.\n\nFlags:\n" +
           base::flagHelp(tuneFlags()) +
           "\nExamples: Whisper small in 200 MiB of a small board; then base.en here, for real\n"
           "  shardscope tune --model card:whisper-small --board v851s-512m-nand --budget 200MiB\n"
           "  shardscope tune --model ggml-base.en.bin --budget 90MiB --verify 3 --audio talk.mp3\n"
           "Four machines share the runs; `shardscope runs import` brings them together:\n"
           "  shardscope tune --model M.bin --verify 8 --part 2/4\n";
}

} // namespace shardscope::app
