// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/board_source.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcess>

#include "app/remote/emulate/emulated_board.h"
#include "app/remote/local_transport.h"

// Outside any namespace: the macro declares a function of the global one.
static void registerBoards() {
    Q_INIT_RESOURCE(boards);
}

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using plan::BoardProfile;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kProbeMs = 120'000;
constexpr qint64 kLargestProfile = 1 << 20;

QDir presetFolder() {
    registerBoards();
    return QDir(QStringLiteral(":/shardscope/boards"));
}

Result<BoardProfile> profileFrom(const QByteArray& text, const QString& where) {
    const Json document =
        Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
    if (!document.is_object())
        return Error{
            ErrorCode::BadInput, "this is no board profile in JSON", where.toStdString(),
            "make one with `shardscope-agent probe --json`"};
    auto profile = plan::profileFromJson(document);
    if (!profile) {
        Error error = profile.error();
        error.where = where.toStdString();
        return error;
    }
    return profile;
}

Result<BoardProfile> emulatedBoard(const QString& name, RunStore* store) {
    auto board = resolveBoard(name, store);
    if (!board)
        return board.error();
    auto local = localBoard(store);
    if (!local)
        return local.error();
    return emulatedProfile(*board, *local, emulationLimits(*board, *local));
}

} // namespace

QStringList presetBoardNames() {
    QStringList names;
    for (const QString& file : presetFolder().entryList(QDir::Files, QDir::Name))
        names.append(QFileInfo(file).completeBaseName());
    return names;
}

Result<BoardProfile> presetBoard(const QString& name) {
    if (!presetBoardNames().contains(name))
        return Error{
            ErrorCode::Usage, "there is no such board", name.toStdString(),
            "give a profile file, local, or one of " +
                presetBoardNames().join(QStringLiteral(", ")).toStdString()};
    return boardFromFile(presetFolder().filePath(name + QStringLiteral(".json")));
}

Result<BoardProfile> boardFromFile(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{
            ErrorCode::BadInput,
            "the board profile cannot be read: " + file.errorString().toStdString(),
            path.toStdString(), "see `shardscope boards list`"};
    return profileFrom(file.read(kLargestProfile), path);
}

Result<BoardProfile> probeLocalBoard(ProbeDepth depth) {
    auto agent = findLocalAgent();
    if (!agent)
        return agent.error();
    QProcess probe;
    QStringList words{QStringLiteral("probe"), QStringLiteral("--json")};
    if (depth == ProbeDepth::Quick)
        words.append(QStringLiteral("--quick"));
    probe.start(*agent, words);
    if (!probe.waitForFinished(kProbeMs) || probe.exitStatus() != QProcess::NormalExit ||
        probe.exitCode() != 0) {
        const QByteArray last = probe.readAllStandardError().trimmed().split('\n').last();
        probe.kill();
        probe.waitForFinished(1000);
        return Error{
            ErrorCode::Failed,
            last.isEmpty() ? "this machine cannot be measured"
                           : "this machine cannot be measured: " + last.toStdString(),
            agent->toStdString(), "run `shardscope-agent probe` by hand"};
    }
    auto profile = profileFrom(probe.readAllStandardOutput(), *agent);
    if (profile)
        profile->name = kLocalBoard.toStdString();
    return profile;
}

Result<BoardProfile> localBoard(RunStore* store) {
    if (store) {
        auto known = store->board(kLocalBoard);
        if (known && *known)
            return (*known)->profile;
    }
    auto profile = probeLocalBoard();
    if (profile && store)
        // A store that cannot keep it costs a measurement next time, nothing else.
        (void)store->saveBoard(*profile);
    return profile;
}

Result<BoardProfile> resolveBoard(const QString& nameOrFile, RunStore* store) {
    if (nameOrFile == kLocalBoard)
        return localBoard(store);
    if (isEmulated(nameOrFile))
        return emulatedBoard(emulatedName(nameOrFile), store);
    if (nameOrFile.contains(QLatin1Char('/')) || nameOrFile.endsWith(QLatin1String(".json")))
        return boardFromFile(nameOrFile);
    if (presetBoardNames().contains(nameOrFile))
        return presetBoard(nameOrFile);
    if (store) {
        auto known = store->board(nameOrFile);
        if (known && *known)
            return (*known)->profile;
    }
    if (QFileInfo(nameOrFile).isFile())
        return boardFromFile(nameOrFile);
    bool isAdded = false;
    if (store)
        if (auto known = store->remoteBoard(nameOrFile); known && *known)
            isAdded = true;
    if (isAdded || nameOrFile.contains(QLatin1Char('@'))) // USER@HOST
        return Error{
            ErrorCode::Usage, "this board was not measured yet", nameOrFile.toStdString(),
            "measure it: shardscope boards probe " + nameOrFile.toStdString()};
    return presetBoard(nameOrFile); // says which there are
}

} // namespace shardscope::app
