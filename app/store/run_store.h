// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QDateTime>
#include <QList>
#include <QObject>

#include "app/store/data_paths.h"
#include "app/store/run_record.h"
#include "app/store/run_writer.h"
#include "app/store/validations.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::app {

class Database;

/// A board that was met or measured.
struct BoardRecord {
    plan::BoardProfile profile;
    QDateTime lastSeen;
};

/// A board that is reached over SSH. No secret is among it.
struct RemoteBoard {
    QString name;       ///< what the user calls it, and its profile
    QString address;    ///< "pi@10.0.0.7:2222"
    QString identity;   ///< the key file; empty: whatever fits
    QString folder;     ///< on the board; empty: the standard one
    QString machine;    ///< as `uname -m` said
    QString agent;      ///< the version of the agent there
    QString state;      ///< "ready", or the line of what failed last
    QDateTime lastSeen; ///< invalid: never
    /// What its doctor found last, {"worst", "findings": [..]} in JSON; empty: nobody asked.
    QString doctor;
};

/// The runs and boards of this user: rows in SQLite, streams in files beside it. A crash at any
/// moment leaves a store that opens, with every chunk that was appended. GUI thread only (the
/// connection belongs to the thread that opened it); several programs may have it open.
class RunStore : public QObject {
    Q_OBJECT
public:
    /// Opens or makes the store, and takes up what a crash left: runs without an end become
    /// partial. One error that says what to do where it is damaged or cannot be written.
    static base::Result<std::unique_ptr<RunStore>> open(const DataPaths& paths);
    ~RunStore() override;

    const DataPaths& paths() const { return m_paths; }

    /// Newest first.
    base::Result<QList<RunRecord>> runs() const;
    /// The run with this id, or with the one id that begins so; Usage where there is none.
    base::Result<RunRecord> run(const QString& idOrBegin) const;
    QString recordingOf(const RunRecord& run) const { return m_paths.recording(run.uuid); }

    /// A new run: gives it an id and a start, makes its file and its row (state running).
    base::Result<std::unique_ptr<RunWriter>> begin(RunRecord& run);
    /// Its end: figures and state from what was seen; `why` says why the stream broke.
    base::Status
    finish(const QString& uuid, const RunContent& content, const std::optional<base::Error>& why);
    /// Copies a recording into the store; its new id, or that of the run that has it already.
    base::Result<QString> import(const QString& recording);
    /// Removes row and recording.
    base::Status remove(const QString& uuid);

    base::Status setNotes(const QString& uuid, const QString& notes);
    base::Status setStarred(const QString& uuid, bool starred);
    base::Status setTags(const QString& uuid, const QStringList& tags);
    base::Status setThumbnail(const QString& uuid, const QByteArray& png);

    /// By their begin.
    base::Result<QList<RangeNote>> rangeNotes(const QString& uuid) const;
    /// Replaces all notes on ranges of a run.
    base::Status setRangeNotes(const QString& uuid, const QList<RangeNote>& notes);

    base::Result<QList<BoardRecord>> boards() const;
    /// None where no board of that name was met.
    base::Result<std::optional<BoardRecord>> board(const QString& name) const;
    /// Keeps a profile, seen now.
    base::Status saveBoard(const plan::BoardProfile& profile);

    /// Keeps what validations have shown, each configuration of a board and model once: the newest.
    /// How many are new.
    base::Result<int> saveValidations(const QList<ValidationRecord>& records);
    /// Of a board, and of one model where it is named.
    base::Result<QList<ValidationRecord>>
    validations(const QString& board, const QString& model = {}) const;
    /// How far predictions for this board have been from runs that they had not seen: the error bar
    /// of the next one. None where nothing was validated.
    std::optional<ValidationErrors> predictionErrors(const QString& board) const;

    /// By name.
    base::Result<QList<RemoteBoard>> remoteBoards() const;
    /// None where there is no board of that name.
    base::Result<std::optional<RemoteBoard>> remoteBoard(const QString& name) const;
    /// A new one, or another state of one that is known.
    base::Status saveRemoteBoard(const RemoteBoard& board);
    /// Usage error where there is none of that name. Its profile and its runs stay.
    base::Status removeRemoteBoard(const QString& name);

signals:
    void runsChanged();
    void boardsChanged();

private:
    RunStore(DataPaths paths, std::unique_ptr<Database> database);
    base::Result<QList<RunRecord>> select(const QString& where, const QVariantList& values) const;
    base::Status insert(const RunRecord& run);
    base::Status update(const RunRecord& run);
    base::Status set(const QString& uuid, const QString& column, const QVariant& value);
    QString recordedAs(const QString& recording) const;
    base::Status takeUpUnfinished();
    base::Status takeUpOrphans();

    DataPaths m_paths;
    std::unique_ptr<Database> m_database;
};

} // namespace shardscope::app
