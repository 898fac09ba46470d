// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/local_transport.h"

#include <chrono>
#include <unistd.h>
#include <utility>

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;

namespace {

constexpr qsizetype kLongestLine = 400;
constexpr int kNotHeld = 125; ///< no status of an agent: the child could not be held to its limits

} // namespace

base::Result<QString> findLocalAgent() {
    const QString name = QStringLiteral("shardscope-agent");
    const QString beside = QCoreApplication::applicationDirPath() + QLatin1Char('/') + name;
    const QString told = qEnvironmentVariable("SHARDSCOPE_AGENT");
    for (const QString& place : {beside, told})
        if (!place.isEmpty() && QFileInfo(place).isExecutable() && QFileInfo(place).isFile())
            return place;
    const QString onPath = QStandardPaths::findExecutable(name);
    if (!onPath.isEmpty())
        return onPath;
    return Error{
        ErrorCode::Connection, "there is no shardscope-agent beside this program or on PATH",
        beside.toStdString(), "build the target shardscope-agent, or set SHARDSCOPE_AGENT"};
}

LocalTransport::LocalTransport(QString program, QObject* parent)
    : Transport(parent), m_program(std::move(program)) {
    m_patience.setSingleShot(true);
    m_patience.setInterval(std::chrono::seconds(3));
    connect(&m_patience, &QTimer::timeout, &m_process, &QProcess::kill);
    connect(&m_process, &QProcess::started, this, &Transport::opened);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, [this] {
        emit bytesArrived(m_process.readAllStandardOutput());
    });
    // Drained always: a child that waits for room in its stderr pipe would stand still.
    connect(&m_process, &QProcess::readyReadStandardError, this, &LocalTransport::readErrors);
    connect(&m_process, &QProcess::finished, this, &LocalTransport::end);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError what) {
        if (what == QProcess::FailedToStart)
            failToStart();
    });
}

LocalTransport::~LocalTransport() {
    m_process.disconnect(this);
    if (m_process.state() == QProcess::NotRunning)
        return;
    m_process.closeWriteChannel();
    if (!m_process.waitForFinished(500)) {
        m_process.kill();
        m_process.waitForFinished(2000);
    }
}

void LocalTransport::start() {
    if (m_program.isEmpty()) {
        auto found = findLocalAgent();
        if (!found) {
            QMetaObject::invokeMethod(
                this, [this, error = found.error()] { close(error); }, Qt::QueuedConnection);
            return;
        }
        m_program = *found;
    }
    // A group of its own: Ctrl+C in a terminal is ours to handle, and we ask the agent to stop.
    m_process.setChildProcessModifier([this] {
        ::setpgid(0, 0);
        if (m_beforeExec && !m_beforeExec())
            ::_exit(kNotHeld);
    });
    m_process.start(m_program, {QStringLiteral("serve")});
}

void LocalTransport::write(const QByteArray& bytes) {
    if (!m_closed && m_process.state() != QProcess::NotRunning)
        m_process.write(bytes);
}

void LocalTransport::stop() {
    if (m_closed || m_stopping)
        return;
    m_stopping = true;
    if (m_process.state() == QProcess::NotRunning) {
        close({});
        return;
    }
    m_process.closeWriteChannel(); // the end of its input ends the agent
    m_patience.start();
}

void LocalTransport::readErrors() {
    const QList<QByteArray> lines = m_process.readAllStandardError().split('\n');
    for (const QByteArray& line : lines)
        if (!line.trimmed().isEmpty())
            m_lastErrorLine = line.trimmed().left(kLongestLine);
}

void LocalTransport::failToStart() {
    close(Error{
        ErrorCode::Connection,
        "the agent cannot be started: " + m_process.errorString().toStdString(),
        m_program.toStdString(), "build it for this machine, or set SHARDSCOPE_AGENT"});
}

void LocalTransport::end(int status, QProcess::ExitStatus how) {
    if (m_process.bytesAvailable())
        emit bytesArrived(m_process.readAllStandardOutput());
    readErrors();
    m_patience.stop();
    if (m_stopping || (how == QProcess::NormalExit && status == 0))
        return close({});
    std::string what = how == QProcess::CrashExit
                           ? "the agent died (signal " + std::to_string(status) + ")"
                           : "the agent ended with status " + std::to_string(status);
    if (!m_lastErrorLine.isEmpty())
        what += ", its last words: " + m_lastErrorLine.toStdString();
    const char* mend = how == QProcess::CrashExit && status == 9
                           ? "it was killed, perhaps for memory: give a smaller --budget"
                           : "run it again; if it dies again, run `shardscope-agent run` by hand";
    close(Error{ErrorCode::Failed, what, m_program.toStdString(), mend});
}

void LocalTransport::close(const std::optional<Error>& reason) {
    if (std::exchange(m_closed, true))
        return;
    emit closed(reason);
}

} // namespace shardscope::app
