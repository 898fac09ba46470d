// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QProcess>
#include <QTimer>

#include "app/remote/transport.h"

namespace shardscope::app {

/// The agent program for this machine: beside our own program, or $SHARDSCOPE_AGENT, or on PATH.
/// Connection error naming the places where there is none.
base::Result<QString> findLocalAgent();

/// `shardscope-agent serve` as a child process.
class LocalTransport : public Transport {
    Q_OBJECT
public:
    /// Runs `program serve`; an empty program is looked for when it starts.
    explicit LocalTransport(QString program = {}, QObject* parent = nullptr);
    /// Called in the child between fork and exec: async-signal-safe, and false ends the child.
    void setBeforeExec(std::function<bool()> before) { m_beforeExec = std::move(before); }
    /// Ends the child.
    ~LocalTransport() override;

    void start() override;
    void write(const QByteArray& bytes) override;
    void stop() override;
    QString target() const override { return QStringLiteral("local agent"); }
    qint64 processId() const { return m_process.processId(); }

private:
    void readErrors();
    void failToStart();
    void end(int status, QProcess::ExitStatus how);
    void close(const std::optional<base::Error>& reason);

    QString m_program;
    std::function<bool()> m_beforeExec; ///< what it refers to outlives the child
    QProcess m_process;
    QTimer m_patience; ///< between asking the child to end and killing it
    QByteArray m_lastErrorLine;
    bool m_stopping = false;
    bool m_closed = false;
};

} // namespace shardscope::app
