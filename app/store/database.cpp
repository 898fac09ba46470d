// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/store/database.h"

#include <atomic>
#include <memory>

#include <QDir>
#include <QFileInfo>
#include <QSqlError>
#include <QStringList>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

/// Statements that lead from version i to i + 1. Append only: released ones never change.
const QList<QStringList>& migrations() {
    static const QList<QStringList> all = {
        {QStringLiteral(
             "CREATE TABLE runs (uuid TEXT PRIMARY KEY, board TEXT NOT NULL, "
             "model TEXT NOT NULL, audio TEXT NOT NULL, started INTEGER NOT NULL, "
             "state TEXT NOT NULL, error TEXT NOT NULL DEFAULT '', config TEXT NOT NULL, "
             "result TEXT, plan_hash TEXT NOT NULL DEFAULT '', "
             "budget INTEGER NOT NULL DEFAULT 0, peak INTEGER NOT NULL DEFAULT 0, "
             "tokens INTEGER NOT NULL DEFAULT 0, ms_per_token REAL NOT NULL DEFAULT 0, "
             "total_ms REAL NOT NULL DEFAULT 0, text TEXT NOT NULL DEFAULT '', "
             "notes TEXT NOT NULL DEFAULT '', starred INTEGER NOT NULL DEFAULT 0, "
             "thumbnail BLOB) WITHOUT ROWID"),
         QStringLiteral("CREATE INDEX runs_started ON runs (started DESC)"),
         QStringLiteral("CREATE TABLE tags (run TEXT NOT NULL REFERENCES runs (uuid) "
                        "ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY (run, tag)) "
                        "WITHOUT ROWID"),
         QStringLiteral("CREATE TABLE boards (name TEXT PRIMARY KEY, profile TEXT NOT NULL, "
                        "last_seen INTEGER NOT NULL) WITHOUT ROWID")},
        {QStringLiteral("CREATE TABLE range_notes (run TEXT NOT NULL REFERENCES runs (uuid) "
                        "ON DELETE CASCADE, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, "
                        "text TEXT NOT NULL)"),
         QStringLiteral("CREATE INDEX range_notes_run ON range_notes (run, begin_ns)")},
        {QStringLiteral("CREATE TABLE remote_boards (name TEXT PRIMARY KEY, address TEXT NOT NULL, "
                        "identity TEXT NOT NULL, folder TEXT NOT NULL, "
                        "machine TEXT NOT NULL, agent TEXT NOT NULL, state TEXT NOT NULL, "
                        "last_seen INTEGER NOT NULL) WITHOUT ROWID")},
        {QStringLiteral("CREATE TABLE validations (id TEXT PRIMARY KEY, board TEXT NOT NULL, "
                        "model TEXT NOT NULL, made INTEGER NOT NULL, config TEXT NOT NULL, "
                        "measured TEXT NOT NULL, predicted TEXT NOT NULL) WITHOUT ROWID"),
         QStringLiteral("CREATE INDEX validations_board ON validations (board, model)")},
        {QStringLiteral("ALTER TABLE remote_boards ADD COLUMN doctor TEXT NOT NULL DEFAULT ''")},
    };
    return all;
}

} // namespace

Database::Database(const QString& path) : m_path(path) {
    static std::atomic<int> count{0};
    m_connection = QStringLiteral("shardscope-%1").arg(++count);
    m_database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connection);
    m_database.setDatabaseName(path);
    m_database.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=5000"));
}

Database::~Database() {
    m_database.close();
    m_database = {};
    QSqlDatabase::removeDatabase(m_connection);
}

Error Database::failure(const QString& what, const QString& detail) const {
    const bool damaged = detail.contains(QLatin1String("malformed")) ||
                         detail.contains(QLatin1String("not a database"));
    return {
        damaged ? ErrorCode::BadInput : ErrorCode::Failed,
        QStringLiteral("%1: %2").arg(what, detail).trimmed().toStdString(), m_path.toStdString(),
        damaged ? "move this file away; the recordings beside it are taken up again"
                : "look at free space and permissions of the data folder"};
}

Result<std::unique_ptr<Database>> Database::open(const QString& path) {
    if (!QDir().mkpath(QFileInfo(path).path()))
        return Error{
            ErrorCode::Failed, "the data folder cannot be made",
            QFileInfo(path).path().toStdString(), "set XDG_DATA_HOME to a folder you may write"};
    std::unique_ptr<Database> database(new Database(path));
    if (!database->m_database.open())
        return database->failure(
            QStringLiteral("the run store cannot be opened"),
            database->m_database.lastError().databaseText());
    for (const char* pragma :
         {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON"})
        if (Status status = database->exec(QLatin1String(pragma)); !status)
            return status.error();
    auto check = database->run(QStringLiteral("PRAGMA quick_check(1)"));
    if (!check)
        return check.error();
    if (!check->next() || check->value(0).toString() != QLatin1String("ok"))
        return database->failure(
            QStringLiteral("the run store is damaged"), QStringLiteral("malformed"));
    check->finish();
    if (Status status = database->migrate(); !status)
        return status.error();
    return database;
}

Status Database::migrate() {
    Transaction all(*this); // the version is read inside: two programs may start at once
    if (!all.begun())
        return all.begun();
    auto version = run(QStringLiteral("PRAGMA user_version"));
    if (!version)
        return version.error();
    const qsizetype found = version->next() ? version->value(0).toInt() : 0;
    version->finish();
    if (found > migrations().size())
        return Error{
            ErrorCode::BadInput, "the run store was made by a newer Shardscope",
            m_path.toStdString(), "update this program, or set XDG_DATA_HOME to another folder"};
    if (found == migrations().size())
        return all.commit();
    for (qsizetype v = found; v < migrations().size(); ++v)
        for (const QString& statement : migrations()[v])
            if (Status status = exec(statement); !status)
                return status;
    const QString now = QStringLiteral("PRAGMA user_version = %1").arg(migrations().size());
    if (Status status = exec(now); !status)
        return status;
    return all.commit();
}

Result<QSqlQuery> Database::run(const QString& statement, const QVariantList& values) const {
    QSqlQuery query(m_database);
    query.setForwardOnly(true);
    bool done = query.prepare(statement);
    if (done) {
        for (const QVariant& value : values)
            query.addBindValue(value);
        done = query.exec();
    }
    if (!done)
        return failure(QStringLiteral("the run store refuses"), query.lastError().databaseText());
    return query;
}

Status Database::exec(const QString& statement, const QVariantList& values) const {
    auto query = run(statement, values);
    return query ? Status() : Status(query.error());
}

} // namespace shardscope::app
