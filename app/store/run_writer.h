// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QElapsedTimer>
#include <QFile>
#include <QString>

#include "sim_engine/base/result.h"

namespace shardscope::app {

/// Appends the stream of one run to its file, in bounded pieces; what was appended survives a crash
/// of this program, and of the machine up to the last sync. The file is locked while it is written,
/// so that another instance can tell a live run from one whose writer died. Thread-compatible.
class RunWriter {
public:
    /// Makes the file; Failed where it exists or cannot be made.
    static base::Result<std::unique_ptr<RunWriter>> create(const QString& path);
    /// Whether some process is writing this recording now.
    static bool isBeingWritten(const QString& path);

    ~RunWriter();

    /// Writes all of it; Failed (with the path) when the disk is full or gone.
    base::Status append(const char* data, qint64 bytes);
    /// Syncs and closes; append is over.
    base::Status close();

    QString path() const { return m_file.fileName(); }
    qint64 bytes() const { return m_bytes; }

private:
    explicit RunWriter(const QString& path);
    base::Error failure(const QString& what) const;
    void syncNow();

    QFile m_file;
    QElapsedTimer m_sinceSync;
    qint64 m_bytes = 0;
    qint64 m_unsynced = 0;
};

} // namespace shardscope::app
