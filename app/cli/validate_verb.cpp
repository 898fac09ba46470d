// SPDX-License-Identifier: GPL-3.0-or-later
// `validate`: are the predictions true? Runs a grid, predicts each from the others.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <random>

#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>

#include "app/cli/grid_flags.h"
#include "app/cli/model_flag.h"
#include "app/cli/run_headless.h"
#include "app/cli/ssh_flags.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/remote/board_source.h"
#include "app/remote/sample.h"
#include "app/replay/run_observation.h"
#include "app/replay/validation.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

const std::vector<Flag>& flags() {
    static const std::vector<Flag> all = [] {
        std::vector<Flag> list{
            {"--board", "NAME", "Where to run (default: local)."},
            {"--model", "FILE", "A ggml Whisper file."},
            {"--audio", "FILE", "What to transcribe (default: a clip of the sample)."},
            {"--grid", "FILE", "Configurations in JSON (default: one that covers the knobs)."},
            {"--repeat", "R",
             "Most runs of each configuration; the median counts (default: 7). Where the\n"
             "      first two agree no more are made."},
            {"--part", "I/N", "Only every N-th configuration, from the I-th on."},
            {"--json", "", "The document, with each configuration."}};
        for (const Flag& flag : sshFlags())
            list.push_back(flag);
        return list;
    }();
    return all;
}

struct Order {
    QString board, model, audio;
    std::shared_ptr<const model::ModelCard> card;
    plan::BoardProfile prior;
    std::vector<plan::RunConfig> grid;
    std::size_t repeats = 7;
    std::function<void(RunController&)> way;
};

Result<std::vector<plan::RunConfig>> gridFromFile(const std::string& path) {
    QFile file(QString::fromStdString(path));
    constexpr qint64 kLargest = 16 << 20;
    if (!file.open(QIODevice::ReadOnly))
        return Error{
            ErrorCode::BadInput, "the grid cannot be read: " + file.errorString().toStdString(),
            path, "check the path"};
    const std::string text = file.read(kLargest).toStdString();
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded())
        return Error{
            ErrorCode::BadInput, "the grid is no JSON", path, "give a list of objects of knobs"};
    return gridFromJson(document, path);
}

/// Every configuration of a grid that someone wrote must be possible: none is left out in silence.
Status check(const Order& order) {
    for (const plan::RunConfig& config : order.grid)
        if (auto planned = plan::planOrError(order.card, config, order.prior); !planned)
            return planned.error();
    return {};
}

Status readGrid(const Args& args, Order& order) {
    if (const auto path = args.value("--grid")) {
        auto grid = gridFromFile(*path);
        if (!grid)
            return grid.error();
        order.grid = std::move(*grid);
        if (Status status = check(order); !status)
            return status;
    } else {
        order.grid = defaultGrid(order.card, order.prior);
    }
    if (const auto text = args.value("--part")) {
        auto part = partFromText(*text);
        if (!part)
            return part.error();
        std::vector<plan::RunConfig> mine;
        for (std::size_t i = 0; i < order.grid.size(); ++i)
            if (part->has(i))
                mine.push_back(order.grid[i]);
        order.grid = std::move(mine);
    }
    if (order.grid.size() < 2)
        return Error{
            ErrorCode::Usage, "fewer than two configurations", "validate",
            "give a larger grid or fewer parts"};
    return {};
}

Result<Order> readOrder(const Args& args, RunStore& store) {
    if (Status status = args.noRest(); !status)
        return status.error();
    Order order;
    order.board = QString::fromStdString(args.valueOr("--board", "local"));
    auto repeats = args.count("--repeat", 7, 100);
    if (!repeats)
        return repeats.error();
    order.repeats = static_cast<std::size_t>(*repeats);
    auto model = args.required("--model");
    if (!model)
        return model.error();
    order.model = QString::fromStdString(*model);
    if (model->starts_with("card:"))
        return Error{
            ErrorCode::BadInput, "a card has no weights to run", *model, "give a model file"};
    auto card = cardFromArgs(args);
    if (!card)
        return card.error();
    order.card = std::move(*card);
    if (const auto audio = args.value("--audio")) {
        order.audio = QString::fromStdString(*audio);
    } else {
        auto clip = resourceFile(QStringLiteral("clips/syn-007.wav"));
        if (!clip)
            return clip.error();
        order.audio = *clip;
    }
    auto way = wayTo(order.board, store, args);
    if (!way)
        return way.error();
    order.way = std::move(*way);
    auto prior = boardNamed(order.board.toStdString());
    if (!prior)
        return prior.error();
    order.prior = std::move(*prior);
    order.prior.measured = {}; // nothing of earlier fits: they may have seen this grid
    if (Status status = readGrid(args, order); !status)
        return status.error();
    return order;
}

volatile std::sig_atomic_t stopAsked = 0;

extern "C" void askToStop(int) {
    stopAsked = 1;
}

/// Ctrl+C between two runs, where no run takes it: it ends the grid, and loses nothing of it.
void listenBetweenRuns() {
    std::signal(SIGINT, askToStop);
    std::signal(SIGTERM, askToStop);
}

RunOrder runOf(const Order& order, const plan::RunConfig& config) {
    RunOrder run;
    run.board = order.board;
    run.model = order.model;
    run.audio = order.audio;
    run.config = config;
    run.profile = order.prior;
    return run;
}

/// A run that does not count: what is not written yet of a new file is written, and the page cache
/// takes it in as runs do, so that all of the grid finds the same. False when it was stopped.
Result<bool> fillPageCache(const Order& order, plan::RunConfig config) {
    config.loader = plan::Loader::Pread;
    config.maxTokens = 1;
    RunOrder run = runOf(order, config);
    run.isCold = true;
    showPhase(QStringLiteral("reading the model into the page cache"));
    RunDocument document;
    const auto error = runToEnd(nullptr, run, document, order.way);
    listenBetweenRuns();
    if (error)
        return *error;
    return document.state() == RunState::Done;
}

/// Runs one configuration and keeps what it showed; false when it was stopped.
Result<bool> runOnce(const Order& order, ValidatedConfig& config) {
    const RunOrder run = runOf(order, config.config);
    if (stopAsked)
        return false;
    RunDocument document;
    const auto error = runToEnd(nullptr, run, document, order.way);
    listenBetweenRuns();
    if (error)
        return *error;
    if (document.state() != RunState::Done)
        return false;
    auto plan = plan::planOrError(document.card(), document.config(), order.prior);
    if (!plan)
        return plan.error();
    const Json& result = document.result();
    const plan::Loader loader = usedLoader(config.config.loader, result);
    const bool isCold = document.content().isCold();
    auto seen = analyze::observe(document.trace(), *plan, loader, order.prior, isCold);
    if (!seen)
        return seen.error();
    config.loader = loader;
    config.workload.windows = std::max(1, document.windows());
    config.workload.tokens =
        std::max(1, (document.tokens() + config.workload.windows - 1) / config.workload.windows);
    config.workload.isWarm = !isCold;
    if (!config.plan)
        config.plan = std::make_shared<const plan::Plan>(std::move(*plan));
    analyze::Summary summary = document.summary();
    if (result.contains("memory")) // the kernel's high-water mark misses no peak
        summary.rssPeak = result["memory"].value("rss_peak_bytes", summary.rssPeak);
    config.repeats.push_back(figuresOf(summary));
    config.observations.push_back(std::move(*seen));
    return true;
}

/// Whether its runs so far agree so well that more of them would tell nothing.
bool isSettled(const ValidatedConfig& config) {
    constexpr std::size_t kLeast = 2;
    constexpr double kAgree = 0.02;
    if (config.repeats.size() < kLeast)
        return false;
    for (const Figure figure : {Figure::MsPerToken, Figure::Total}) {
        double least = 1e300, most = 0;
        for (const Figures& f : config.repeats) {
            least = std::min(least, f[static_cast<std::size_t>(figure)]);
            most = std::max(most, f[static_cast<std::size_t>(figure)]);
        }
        if (most > (1 + kAgree) * least)
            return false;
    }
    return true;
}

/// All of the grid, round by round, so that what drifts meets all alike; each round in an order of
/// its own. True where it came to its end.
Result<bool> runGrid(const Order& order, std::vector<ValidatedConfig>& all) {
    QElapsedTimer clock;
    clock.start();
    std::size_t done = 0;
    std::size_t total = all.size() * order.repeats;
    listenBetweenRuns();
    if (auto filled = fillPageCache(order, all.front().config); !filled || !*filled)
        return filled;
    for (std::size_t round = 0; round < order.repeats; ++round) {
        std::vector<std::size_t> turn(all.size());
        for (std::size_t i = 0; i < turn.size(); ++i)
            turn[i] = i;
        std::shuffle(turn.begin(), turn.end(), std::mt19937(static_cast<unsigned>(round)));
        for (const std::size_t i : turn) {
            if (isSettled(all[i])) {
                --total;
                continue;
            }
            auto went = runOnce(order, all[i]);
            if (!went || !*went)
                return went;
            const double each = static_cast<double>(clock.elapsed()) / 1e3 / double(++done);
            showPhase(QString::fromStdString(base::formatted(
                "run %zu of %zu, %.0f s to go", done, total, each * double(total - done))));
        }
    }
    return true;
}

QList<ValidationRecord> recordsOf(const Order& order, const std::vector<ValidatedConfig>& all) {
    QList<ValidationRecord> records;
    for (const ValidatedConfig& c : all)
        records.append(
            {order.board,
             QFileInfo(order.model).fileName(),
             plan::toJson(c.config),
             {c.measured, c.predicted},
             QDateTime::currentDateTimeUtc()});
    return records;
}

Json qualityJson(const analyze::FitQuality& q) {
    Json passes = Json::object();
    for (std::size_t pass = 0; pass < model::kPassCount; ++pass)
        passes[std::string(model::passName(static_cast<model::PassKind>(pass)))] = q.passes[pass];
    return {{"runs", q.runs}, {"residual", std::move(passes)}, {"residual_reads", q.reads}};
}

Json documentOf(
    const Order& order, const std::vector<ValidatedConfig>& all,
    const QList<ValidationRecord>& records, const analyze::FitQuality& quality, bool isWhole) {
    Json document{
        {"board", order.board.toStdString()},
        {"model", QFileInfo(order.model).fileName().toStdString()},
        {"complete", isWhole},
        {"repeats", order.repeats}};
    document.update(toJson(errorsOf(records)));
    Json noise = Json::object();
    for (const Figure figure :
         {Figure::MsPerToken, Figure::FirstToken, Figure::Encode, Figure::Total})
        if (const auto n = noiseOf(all, figure))
            noise[std::string(figureName(figure))] = toJson(*n);
    document["noise"] = std::move(noise);
    document["fit"] = qualityJson(quality);
    Json runs = Json::array();
    for (const ValidationRecord& record : records)
        runs.push_back(toJson(record));
    document["runs"] = std::move(runs);
    return document;
}

std::string textOf(const Json& document) {
    Table table;
    table.add({"figure", "median", "90 %", "worst", "noise"});
    const auto percent = [](const Json& x) {
        return base::formatted("%.1f %%", x.get<double>() * 100);
    };
    for (const auto& [name, e] : document["errors"].items())
        table.add(
            {name, percent(e["median"]), percent(e["p90"]), percent(e["worst"]),
             document["noise"].contains(name) ? percent(document["noise"][name]["median"]) : ""});
    return base::formatted(
               "%zu configurations, each predicted by a profile that had not seen it.\n"
               "The faster of two was told right in %s of %zu pairs that differ by over 10 %%.\n\n",
               document["configurations"].get<std::size_t>(),
               percent(document["order_right"]).c_str(),
               document["order_pairs"].get<std::size_t>()) +
           table.text();
}

/// Predicts, keeps and tells; what was measured of a grid that was broken off counts too.
int conclude(
    const Order& order, std::vector<ValidatedConfig>& all, bool isWhole, RunStore& store,
    bool json) {
    std::erase_if(all, [](const ValidatedConfig& c) { return c.repeats.empty(); });
    if (Status status = predictHeldOut(all, order.prior); !status)
        return fail(status.error());
    auto fit = fitToAll(all, order.prior);
    if (!fit)
        return fail(fit.error());
    const QList<ValidationRecord> records = recordsOf(order, all);
    const Json document = documentOf(order, all, records, fit->quality, isWhole);
    if (auto kept = store.saveValidations(records); !kept)
        return fail(kept.error());
    fit->board.name = order.prior.name;
    if (isWhole) // a piece of a grid has seen too little to predict all else
        if (Status status = store.saveBoard(fit->board); !status)
            return fail(status.error());
    if (json)
        printJson(document);
    else
        print(textOf(document));
    if (!isWhole)
        return fail(
            {ErrorCode::Failed, "stopped before its end; what was measured is kept", "validate",
             "start it again for all of the grid"});
    return 0;
}

} // namespace

int validateVerb(const Words& words) {
    auto args = Args::parse(words, flags());
    if (!args)
        return fail(args.error());
    auto store = RunStore::open(DataPaths::standard());
    if (!store)
        return fail(store.error());
    auto order = readOrder(*args, **store);
    if (!order)
        return fail(order.error());
    std::vector<ValidatedConfig> all(order->grid.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].config = order->grid[i];
    auto whole = runGrid(*order, all);
    clearPhase();
    const bool anything = std::any_of(
        all.begin(), all.end(), [](const ValidatedConfig& c) { return !c.repeats.empty(); });
    if (!whole) {
        const int status = fail(whole.error());
        if (!anything)
            return status;
    }
    if (!anything)
        return fail(
            {ErrorCode::Failed, "stopped before anything was measured", "validate",
             "start it again"});
    return conclude(*order, all, whole && *whole, **store, args->has("--json"));
}

std::string validateManual() {
    return "shardscope validate --model M [--board B] [--grid FILE] [--repeat R] [--part I/N]\n"
           "    [--audio A] [--json]\n\n"
           "Runs a grid of configurations for real, predicts each by a profile that was fitted to\n"
           "the others, and tells how far the predictions are off. The errors are kept and shown\n"
           "with every later prediction for this board, which the fitted profile makes.\n"
           "Ctrl+C ends it; what was measured so far counts.\n\nFlags:\n" +
           base::flagHelp(flags()) +
           "\nA grid is a list of objects of knobs; a list of values stands for each of them:\n"
           "  [{\"loader\": [\"pread\", \"mmap\"], \"budget\": [\"60MiB\", \"90MiB\"]}]\n"
           "\nExample: four machines share the grid, and one gathers the results\n"
           "  parallel -S board1,board2,board3,board4 \\\n"
           "      shardscope validate --model M.bin --part {}/4 --json '>' part-{}.json ::: 1 2 3 "
           "4\n"
           "  shardscope runs import part-*.json\n";
}

} // namespace shardscope::app
