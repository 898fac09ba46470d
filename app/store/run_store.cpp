// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/store/run_store.h"

#include <utility>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <QUuid>

#include "app/store/database.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

QString newId() {
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

QVariant jsonText(const Json& json) {
    return json.is_null() ? QVariant() : QVariant(QString::fromStdString(json.dump()));
}

Json jsonOf(const QVariant& text) {
    Json json = Json::parse(text.toString().toStdString(), nullptr, false);
    return json.is_discarded() ? Json() : json;
}

RunRecord recordOf(const QSqlQuery& row) {
    RunRecord run;
    int i = 0;
    run.uuid = row.value(i++).toString();
    run.board = row.value(i++).toString();
    run.model = row.value(i++).toString();
    run.audio = row.value(i++).toString();
    run.started = QDateTime::fromMSecsSinceEpoch(row.value(i++).toLongLong());
    run.state = runStateByName(row.value(i++).toString().toStdString());
    run.errorLine = row.value(i++).toString();
    run.config = jsonOf(row.value(i++));
    run.result = jsonOf(row.value(i++));
    run.planHash = row.value(i++).toString();
    run.budgetBytes = row.value(i++).toLongLong();
    run.peakBytes = row.value(i++).toLongLong();
    run.tokens = row.value(i++).toLongLong();
    run.msPerToken = row.value(i++).toDouble();
    run.totalMs = row.value(i++).toDouble();
    run.text = row.value(i++).toString();
    run.notes = row.value(i++).toString();
    run.starred = row.value(i++).toBool();
    run.thumbnail = row.value(i++).toByteArray();
    run.tags = row.value(i++).toString().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    return run;
}

const QString kPartialLine = QStringLiteral("the run was cut off; what was recorded is kept");

} // namespace

RunStore::RunStore(DataPaths paths, std::unique_ptr<Database> database)
    : m_paths(std::move(paths)), m_database(std::move(database)) {}

RunStore::~RunStore() = default;

Result<std::unique_ptr<RunStore>> RunStore::open(const DataPaths& paths) {
    if (!QDir().mkpath(paths.runs()))
        return Error{
            ErrorCode::Failed, "the data folder cannot be made", paths.runs().toStdString(),
            "set XDG_DATA_HOME to a folder you may write"};
    auto database = Database::open(paths.database());
    if (!database)
        return database.error();
    std::unique_ptr<RunStore> store(new RunStore(paths, std::move(*database)));
    if (Status status = store->takeUpUnfinished(); !status)
        return status.error();
    if (Status status = store->takeUpOrphans(); !status)
        return status.error();
    return store;
}

/// Rows that say running although nobody writes their file: their writer died.
Status RunStore::takeUpUnfinished() {
    auto unfinished = select(QStringLiteral("WHERE state = 'running'"), {});
    if (!unfinished)
        return unfinished.error();
    for (RunRecord& run : *unfinished) {
        const QString path = recordingOf(run);
        if (RunWriter::isBeingWritten(path))
            continue;
        if (auto content = readRunFile(path.toStdString())) {
            describe(run, *content);
        } else {
            run.state = RunState::Partial;
        }
        if (run.state == RunState::Partial && run.errorLine.isEmpty())
            run.errorLine = kPartialLine;
        if (Status status = update(run); !status)
            return status;
    }
    return {};
}

/// Recordings without a row: a crash between file and row, or a database that was moved away.
Status RunStore::takeUpOrphans() {
    auto known = m_database->run(QStringLiteral("SELECT uuid FROM runs"));
    if (!known)
        return known.error();
    QSet<QString> ids;
    while (known->next())
        ids.insert(known->value(0).toString());
    const QFileInfoList files =
        QDir(m_paths.runs()).entryInfoList({QStringLiteral("*.sst")}, QDir::Files);
    for (const QFileInfo& file : files) {
        const QString id = file.completeBaseName();
        if (ids.contains(id) || RunWriter::isBeingWritten(file.filePath()))
            continue;
        auto content = readRunFile(file.filePath().toStdString());
        if (!content) {
            if (file.size() == 0)
                QFile::remove(file.filePath());
            continue; // someone else's file: not ours to judge
        }
        RunRecord run;
        describe(run, *content);
        run.uuid = id;
        run.started = file.lastModified();
        if (run.state == RunState::Partial)
            run.errorLine = kPartialLine;
        if (Status status = insert(run); !status)
            return status;
    }
    return {};
}

Result<QList<RunRecord>> RunStore::select(const QString& where, const QVariantList& values) const {
    auto rows = m_database->run(
        QStringLiteral("SELECT uuid, board, model, audio, started, state, error, config, result, "
                       "plan_hash, budget, peak, tokens, ms_per_token, total_ms, text, notes, "
                       "starred, thumbnail, (SELECT group_concat(tag, char(10)) FROM tags "
                       "WHERE run = uuid) FROM runs ") +
            where + QStringLiteral(" ORDER BY started DESC"),
        values);
    if (!rows)
        return rows.error();
    QList<RunRecord> runs;
    while (rows->next())
        runs.append(recordOf(*rows));
    return runs;
}

Result<QList<RunRecord>> RunStore::runs() const {
    return select({}, {});
}

Result<RunRecord> RunStore::run(const QString& idOrBegin) const {
    // Compared as text: the id comes from a command line and may hold any character.
    auto found =
        select(QStringLiteral("WHERE substr(uuid, 1, ?) = ?"), {idOrBegin.size(), idOrBegin});
    if (!found)
        return found.error();
    if (idOrBegin.isEmpty() || found->isEmpty())
        return Error{
            ErrorCode::Usage, "there is no such run", idOrBegin.toStdString(),
            "see `shardscope runs list`"};
    if (found->size() > 1)
        return Error{
            ErrorCode::Usage, "several runs begin like this", idOrBegin.toStdString(),
            "give more letters of the id"};
    return found->first();
}

Status RunStore::insert(const RunRecord& run) {
    if (Status status = m_database->exec(
            QStringLiteral(
                "INSERT OR IGNORE INTO runs (uuid, board, model, audio, started, state, config) "
                "VALUES (?, '', '', '', ?, 'running', '{}')"),
            {run.uuid, run.started.toMSecsSinceEpoch()});
        !status)
        return status;
    return update(run);
}

Status RunStore::update(const RunRecord& run) {
    // A null QString would be bound as NULL, which the table refuses.
    const auto text = [](const QString& s) { return s.isNull() ? QStringLiteral("") : s; };
    const std::string_view state = runStateName(run.state);
    Status status = m_database->exec(
        QStringLiteral("UPDATE runs SET board = ?, model = ?, audio = ?, state = ?, error = ?, "
                       "config = ?, result = ?, plan_hash = ?, budget = ?, peak = ?, tokens = ?, "
                       "ms_per_token = ?, total_ms = ?, text = ? WHERE uuid = ?"),
        {text(run.board), text(run.model), text(run.audio),
         QString::fromUtf8(state.data(), static_cast<qsizetype>(state.size())), text(run.errorLine),
         text(jsonText(run.config).toString()), jsonText(run.result), text(run.planHash),
         run.budgetBytes, run.peakBytes, run.tokens, run.msPerToken, run.totalMs, text(run.text),
         run.uuid});
    if (status)
        emit runsChanged();
    return status;
}

Result<std::unique_ptr<RunWriter>> RunStore::begin(RunRecord& run) {
    run.uuid = newId();
    run.started = QDateTime::currentDateTime();
    run.state = RunState::Running;
    // The file first: a row whose file is locked is alive for every other instance.
    auto writer = RunWriter::create(m_paths.recording(run.uuid));
    if (!writer)
        return writer.error();
    if (Status status = insert(run); !status) {
        QFile::remove(m_paths.recording(run.uuid));
        return status.error();
    }
    return writer;
}

Status
RunStore::finish(const QString& uuid, const RunContent& content, const std::optional<Error>& why) {
    auto run = this->run(uuid);
    if (!run)
        return run.error();
    describe(*run, content);
    if (run->errorLine.isEmpty() && why)
        run->errorLine = QString::fromStdString(why->line());
    if (run->state == RunState::Partial && run->errorLine.isEmpty())
        run->errorLine = kPartialLine;
    return update(*run);
}

/// The id of the run whose recording has the same bytes; empty where there is none.
QString RunStore::recordedAs(const QString& recording) const {
    QFile wanted(recording);
    const qint64 bytes = wanted.size();
    const QFileInfoList files =
        QDir(m_paths.runs()).entryInfoList({QStringLiteral("*.sst")}, QDir::Files);
    for (const QFileInfo& file : files) {
        if (file.size() != bytes)
            continue;
        QFile known(file.filePath());
        if (!wanted.open(QIODevice::ReadOnly) || !known.open(QIODevice::ReadOnly))
            return {};
        constexpr qint64 kPiece = 1 << 20;
        bool same = true;
        while (same && !wanted.atEnd())
            same = wanted.read(kPiece) == known.read(kPiece);
        wanted.close();
        if (same)
            return file.completeBaseName();
    }
    return {};
}

Result<QString> RunStore::import(const QString& recording) {
    auto content = readRunFile(recording.toStdString());
    if (!content)
        return content.error();
    if (const QString known = recordedAs(recording); !known.isEmpty())
        return known;
    RunRecord run;
    describe(run, *content);
    run.uuid = newId();
    run.started = QFileInfo(recording).lastModified();
    const QString place = m_paths.recording(run.uuid);
    const QString part = place + QStringLiteral(".part");
    QFile source(recording);
    if (!source.copy(part) || !QFile::rename(part, place)) {
        QFile::remove(part);
        return Error{
            ErrorCode::Failed, "the recording cannot be copied into the store",
            m_paths.runs().toStdString(), "look at free space and permissions of the data folder"};
    }
    if (Status status = insert(run); !status)
        return status.error();
    return run.uuid;
}

Status RunStore::remove(const QString& uuid) {
    if (RunWriter::isBeingWritten(m_paths.recording(uuid)))
        return Error{
            ErrorCode::Usage, "this run is still going on", uuid.toStdString(), "stop it first"};
    // The file first: a row without a file is told at once, a file without a row would come back.
    QFile file(m_paths.recording(uuid));
    if (file.exists() && !file.remove())
        return Error{
            ErrorCode::Failed, "the recording cannot be removed", file.fileName().toStdString(),
            "look at the permissions of the data folder"};
    Status status = m_database->exec(QStringLiteral("DELETE FROM runs WHERE uuid = ?"), {uuid});
    if (status)
        emit runsChanged();
    return status;
}

Status RunStore::set(const QString& uuid, const QString& column, const QVariant& value) {
    Status status = m_database->exec(
        QStringLiteral("UPDATE runs SET %1 = ? WHERE uuid = ?").arg(column), {value, uuid});
    if (status)
        emit runsChanged();
    return status;
}

Status RunStore::setNotes(const QString& uuid, const QString& notes) {
    return set(uuid, QStringLiteral("notes"), notes.isNull() ? QStringLiteral("") : notes);
}

Status RunStore::setStarred(const QString& uuid, bool starred) {
    return set(uuid, QStringLiteral("starred"), starred);
}

Status RunStore::setThumbnail(const QString& uuid, const QByteArray& png) {
    return set(uuid, QStringLiteral("thumbnail"), png);
}

Status RunStore::setTags(const QString& uuid, const QStringList& tags) {
    Transaction all(*m_database);
    if (!all.begun())
        return all.begun();
    if (Status status = m_database->exec(QStringLiteral("DELETE FROM tags WHERE run = ?"), {uuid});
        !status)
        return status;
    for (const QString& tag : tags)
        if (const QString word = tag.simplified(); !word.isEmpty())
            if (Status status = m_database->exec(
                    QStringLiteral("INSERT OR IGNORE INTO tags (run, tag) VALUES (?, ?)"),
                    {uuid, word});
                !status)
                return status;
    Status status = all.commit();
    if (status)
        emit runsChanged();
    return status;
}

Result<QList<RangeNote>> RunStore::rangeNotes(const QString& uuid) const {
    auto rows = m_database->run(
        QStringLiteral("SELECT begin_ns, end_ns, text FROM range_notes WHERE run = ? "
                       "ORDER BY begin_ns, rowid"),
        {uuid});
    if (!rows)
        return rows.error();
    QList<RangeNote> notes;
    while (rows->next())
        notes.append(
            {base::Nanos(rows->value(0).toLongLong()), base::Nanos(rows->value(1).toLongLong()),
             rows->value(2).toString()});
    return notes;
}

Status RunStore::setRangeNotes(const QString& uuid, const QList<RangeNote>& notes) {
    Transaction all(*m_database);
    if (!all.begun())
        return all.begun();
    if (Status status =
            m_database->exec(QStringLiteral("DELETE FROM range_notes WHERE run = ?"), {uuid});
        !status)
        return status;
    for (const RangeNote& note : notes)
        if (Status status = m_database->exec(
                QStringLiteral("INSERT INTO range_notes (run, begin_ns, end_ns, text) "
                               "VALUES (?, ?, ?, ?)"),
                {uuid, qint64(note.begin.value), qint64(note.end.value),
                 note.text.isNull() ? QStringLiteral("") : note.text});
            !status)
            return status;
    return all.commit();
}

Result<QList<BoardRecord>> RunStore::boards() const {
    auto rows =
        m_database->run(QStringLiteral("SELECT profile, last_seen FROM boards ORDER BY name"));
    if (!rows)
        return rows.error();
    QList<BoardRecord> boards;
    while (rows->next()) {
        auto profile = plan::profileFromJson(jsonOf(rows->value(0)));
        if (profile) // one of another version is measured again when it is needed
            boards.append(
                {std::move(*profile), QDateTime::fromMSecsSinceEpoch(rows->value(1).toLongLong())});
    }
    return boards;
}

Result<std::optional<BoardRecord>> RunStore::board(const QString& name) const {
    auto all = boards();
    if (!all)
        return all.error();
    for (BoardRecord& board : *all)
        if (QString::fromStdString(board.profile.name) == name)
            return std::optional(std::move(board));
    return std::optional<BoardRecord>();
}

Status RunStore::saveBoard(const plan::BoardProfile& profile) {
    Status status = m_database->exec(
        QStringLiteral("INSERT INTO boards (name, profile, last_seen) VALUES (?, ?, ?) "
                       "ON CONFLICT (name) DO UPDATE SET profile = excluded.profile, "
                       "last_seen = excluded.last_seen"),
        {QString::fromStdString(profile.name), jsonText(plan::toJson(profile)),
         QDateTime::currentMSecsSinceEpoch()});
    if (status)
        emit boardsChanged();
    return status;
}

Result<QList<RemoteBoard>> RunStore::remoteBoards() const {
    auto rows = m_database->run(
        QStringLiteral("SELECT name, address, identity, folder, machine, agent, state, last_seen, "
                       "doctor FROM remote_boards ORDER BY name"));
    if (!rows)
        return rows.error();
    QList<RemoteBoard> boards;
    while (rows->next()) {
        const auto text = [&](int column) { return rows->value(column).toString(); };
        RemoteBoard board{text(0), text(1), text(2), text(3), text(4),
                          text(5), text(6), {},      text(8)};
        if (const qint64 seen = rows->value(7).toLongLong(); seen > 0)
            board.lastSeen = QDateTime::fromMSecsSinceEpoch(seen);
        boards.append(board);
    }
    return boards;
}

Result<std::optional<RemoteBoard>> RunStore::remoteBoard(const QString& name) const {
    auto all = remoteBoards();
    if (!all)
        return all.error();
    for (const RemoteBoard& board : std::as_const(*all))
        if (board.name == name)
            return std::optional(board);
    return std::optional<RemoteBoard>();
}

Status RunStore::saveRemoteBoard(const RemoteBoard& board) {
    // An empty text is none of SQL's nulls.
    const auto text = [](const QString& t) { return t.isNull() ? QStringLiteral("") : t; };
    Status status = m_database->exec(
        QStringLiteral("INSERT OR REPLACE INTO remote_boards (name, address, identity, folder, "
                       "machine, agent, state, last_seen, doctor) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        {board.name, text(board.address), text(board.identity), text(board.folder),
         text(board.machine), text(board.agent), text(board.state),
         board.lastSeen.isValid() ? board.lastSeen.toMSecsSinceEpoch() : 0, text(board.doctor)});
    if (status)
        emit boardsChanged();
    return status;
}

Status RunStore::removeRemoteBoard(const QString& name) {
    auto known = remoteBoard(name);
    if (!known)
        return known.error();
    if (!*known)
        return Error{
            ErrorCode::Usage, "there is no such board", name.toStdString(),
            "see `shardscope boards list`"};
    Status status =
        m_database->exec(QStringLiteral("DELETE FROM remote_boards WHERE name = ?"), {name});
    if (status)
        emit boardsChanged();
    return status;
}

} // namespace shardscope::app
