// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/store/run_writer.h"

#include <algorithm>
#include <sys/file.h>
#include <unistd.h>

#include <QThreadPool>

namespace shardscope::app {

namespace {

constexpr qint64 kPiece = 256 << 10;
constexpr qint64 kSyncBytes = 8 << 20;
constexpr qint64 kSyncMs = 2000;

} // namespace

RunWriter::RunWriter(const QString& path) : m_file(path) {}

RunWriter::~RunWriter() = default;

base::Error RunWriter::failure(const QString& what) const {
    return {
        base::ErrorCode::Failed, (what + m_file.errorString()).toStdString(),
        m_file.fileName().toStdString(), "look at free space and permissions of the data folder"};
}

base::Result<std::unique_ptr<RunWriter>> RunWriter::create(const QString& path) {
    std::unique_ptr<RunWriter> writer(new RunWriter(path));
    if (!writer->m_file.open(QIODevice::WriteOnly | QIODevice::NewOnly | QIODevice::Unbuffered))
        return writer->failure(QStringLiteral("the recording cannot be made: "));
    ::flock(writer->m_file.handle(), LOCK_EX | LOCK_NB);
    writer->m_sinceSync.start();
    return writer;
}

bool RunWriter::isBeingWritten(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return false;
    return ::flock(file.handle(), LOCK_EX | LOCK_NB) != 0; // our lock ends with the handle
}

base::Status RunWriter::append(const char* data, qint64 bytes) {
    while (bytes > 0) {
        const qint64 n = m_file.write(data, std::min(bytes, kPiece));
        if (n <= 0)
            return failure(QStringLiteral("the recording cannot be continued: "));
        data += n;
        bytes -= n;
        m_bytes += n;
        m_unsynced += n;
    }
    if (m_unsynced >= kSyncBytes || (m_unsynced && m_sinceSync.elapsed() >= kSyncMs))
        syncNow();
    return {};
}

/// A sync can take long on a slow disk, so it happens beside the thread that writes.
void RunWriter::syncNow() {
    m_unsynced = 0;
    m_sinceSync.restart();
    const int fd = ::dup(m_file.handle());
    if (fd < 0)
        return;
    QThreadPool::globalInstance()->start([fd] {
        ::fdatasync(fd);
        ::close(fd);
    });
}

base::Status RunWriter::close() {
    if (!m_file.isOpen())
        return {};
    const bool synced = ::fdatasync(m_file.handle()) == 0;
    m_file.close();
    if (!synced)
        return failure(QStringLiteral("the recording cannot be finished: "));
    return {};
}

} // namespace shardscope::app
