// SPDX-License-Identifier: GPL-3.0-or-later
// `calibrate`: a profile fitted to runs.
#include <algorithm>

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include "app/cli/grid_flags.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/replay/run_observation.h"
#include "app/store/run_store.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Args;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr base::Flag kFlags[] = {
    {"--board", "NAME|FILE", "What is known so far (default: the board of the first run)."},
    {"--output", "FILE", "Where the profile goes (also -o); without it, stdout."},
};

Result<RunContent> contentOf(const std::string& word) {
    const QString text = QString::fromStdString(word);
    if (QFileInfo(text).isFile())
        return readRunFile(word);
    auto store = RunStore::open(DataPaths::standard());
    if (!store)
        return store.error();
    auto run = (*store)->run(text);
    if (!run)
        return run.error();
    return readRunFile((*store)->recordingOf(*run).toStdString());
}

Status writeProfile(const plan::BoardProfile& board, const std::optional<std::string>& path) {
    if (!path) {
        printJson(plan::toJson(board));
        return {};
    }
    QSaveFile out(QString::fromStdString(*path));
    const std::string text = plan::toJson(board).dump(2) + "\n";
    if (!out.open(QIODevice::WriteOnly) ||
        out.write(text.data(), static_cast<qint64>(text.size())) !=
            static_cast<qint64>(text.size()) ||
        !out.commit())
        return Error{
            ErrorCode::Failed, "the profile cannot be written: " + out.errorString().toStdString(),
            *path, "give another -o FILE"};
    return {};
}

void tellQuality(const analyze::FitQuality& q) {
    std::string line =
        base::formatted("fitted to %lld runs; off by", static_cast<long long>(q.runs));
    for (std::size_t pass = 0; pass < model::kPassCount; ++pass)
        line += base::formatted(
            " %s %.1f %%,",
            std::string(model::passName(static_cast<model::PassKind>(pass))).c_str(),
            q.passes[pass] * 100);
    std::fprintf(stderr, "%s reads %.1f %%\n", line.c_str(), q.reads * 100);
}

Result<analyze::Fit> fitTo(const Words& names, const std::optional<std::string>& boardName) {
    std::vector<RunContent> contents;
    for (const std::string& name : names) {
        auto content = contentOf(name);
        if (!content)
            return content.error();
        contents.push_back(std::move(*content));
    }
    plan::BoardProfile prior = contents.front().board();
    if (boardName || prior.readBytesPerSecond <= 0) {
        auto named = boardNamed(boardName.value_or("local"));
        if (!named)
            return named.error();
        prior = std::move(*named);
    }
    prior.measured = {};
    std::vector<analyze::RunObservation> seen;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        auto one = observationOf(contents[i], prior, names[i]);
        if (!one)
            return one.error();
        seen.push_back(std::move(*one));
    }
    std::vector<const analyze::RunObservation*> runs;
    for (const auto& one : seen)
        runs.push_back(&one);
    return analyze::calibrate(runs, prior);
}

} // namespace

int calibrateVerb(const Words& words) {
    Words usual = words;
    std::replace(usual.begin(), usual.end(), std::string("-o"), std::string("--output"));
    auto args = Args::parse(usual, kFlags);
    if (!args)
        return fail(args.error());
    if (args->rest().empty())
        return fail(
            {ErrorCode::Usage, "a run is missing", "calibrate", "give ids or recordings (.sst)"});
    auto fit = fitTo(args->rest(), args->value("--board"));
    if (!fit)
        return fail(fit.error());
    if (Status status = writeProfile(fit->board, args->value("--output")); !status)
        return fail(status.error());
    tellQuality(fit->quality);
    return 0;
}

std::string calibrateManual() {
    return "shardscope calibrate RUN... [--board B] [-o FILE]\n\n"
           "Fits a profile to runs that were measured on one board: times of ops by shape, reads "
           "by\n"
           "loader, what both lose beside each other, fixed costs. A RUN is an id of `runs list` "
           "or\n"
           "a recording (.sst). How far the fit is off, a pass, goes to stderr.\n\nFlags:\n" +
           base::flagHelp(kFlags) +
           "\nExample:\n  shardscope calibrate 3f2a 77c1 -o my-board.json\n"
           "  shardscope simulate --board my-board.json --model M.bin --budget 60MiB\n";
}

} // namespace shardscope::app
