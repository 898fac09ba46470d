// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <thread>

#include <QTimer>

#include "app/remote/ssh/questions.h"
#include "app/remote/ssh/ssh_options.h"
#include "app/remote/ssh/ssh_stream.h"
#include "app/remote/transport.h"

namespace shardscope::app {

/// `shardscope-agent serve` on a board, over one SSH connection on one worker thread: connects,
/// checks who it is, logs in, puts agent and files there, and starts the agent on an exec channel.
/// No port is opened on the board.
class SshTransport : public Transport {
    Q_OBJECT
public:
    explicit SshTransport(
        SshTarget target, SshOptions options = SshOptions::standard(), QObject* parent = nullptr);
    /// Cuts the connection; takes some milliseconds, and half a second at most after stop().
    ~SshTransport() override;

    /// Questions of the connection: connect to its signal before start(), or nobody is asked.
    QuestionBox& questions() { return m_questions; }

    /// Ours on the board; known when opened() comes.
    QString folder() const { return m_folder; }
    void bring(const QStringList& files) override { m_files = files; }
    QString pathThere(const QString& file) const override;
    void start() override;
    void write(const QByteArray& bytes) override;
    void stop() override;
    QString target() const override { return m_target.text(); }
    bool isDistrusted() const override { return m_distrusted; }

private:
    struct Arrival {
        std::map<QString, QString> paths;
        QString folder;
    };
    std::optional<base::Error> work();
    base::Status serve(SshLink& link);
    base::Status putFiles(SshLink& link, QString& agent, Arrival& arrival);
    void note(const QString& phase);
    void deliver();
    void close(const std::optional<base::Error>& reason);

    SshTarget m_target;
    SshOptions m_options;
    QStringList m_files;
    std::map<QString, QString> m_paths;
    QString m_folder;
    QuestionBox m_questions;
    std::shared_ptr<Wake> m_wake;
    SshStream m_stream;
    std::thread m_worker;
    QTimer m_patience;               ///< between asking the agent to end and cutting the connection
    std::atomic<bool> m_done{false}; ///< the worker has nothing left to do
    std::atomic<bool> m_distrusted{false};
    bool m_open = false;
    bool m_stopping = false;
    bool m_closed = false;
};

} // namespace shardscope::app
