// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that speaks to SQLite (through Qt SQL).
#pragma once

#include <QList>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QString>
#include <QVariant>

#include "sim_engine/base/result.h"

namespace shardscope::app {

/// One connection, with its schema up to date. It belongs to the thread that opened it.
class Database {
public:
    /// Opens or makes the database and migrates it. BadInput where the file is damaged or newer
    /// than this program, Failed where the folder cannot be written.
    static base::Result<std::unique_ptr<Database>> open(const QString& path);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Runs a statement with positional values; the query stands before its first row.
    base::Result<QSqlQuery> run(const QString& statement, const QVariantList& values = {}) const;
    /// run() without an interest in rows.
    base::Status exec(const QString& statement, const QVariantList& values = {}) const;

private:
    explicit Database(const QString& path);
    base::Status migrate();
    base::Error failure(const QString& what, const QString& detail) const;

    QString m_path;
    QString m_connection;
    QSqlDatabase m_database;
};

/// All or nothing: rolled back when it goes out of scope uncommitted.
class Transaction {
public:
    explicit Transaction(const Database& database)
        : m_database(database), m_begun(database.exec(QStringLiteral("BEGIN IMMEDIATE"))) {}
    ~Transaction() {
        if (m_begun.ok() && !m_done)
            (void)m_database.exec(QStringLiteral("ROLLBACK"));
    }
    base::Status commit() {
        if (!m_begun)
            return m_begun;
        m_done = true;
        return m_database.exec(QStringLiteral("COMMIT"));
    }
    const base::Status& begun() const { return m_begun; }

private:
    const Database& m_database;
    base::Status m_begun;
    bool m_done = false;
};

} // namespace shardscope::app
