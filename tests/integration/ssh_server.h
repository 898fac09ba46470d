// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>

#include "app/remote/ssh/questions.h"
#include "app/remote/ssh/ssh_link.h"
#include "app/remote/ssh/ssh_options.h"

namespace shardscope::testing {

/// A real sshd on a free port of 127.0.0.1, with keys made in a folder of its own and no PAM. Its
/// user is the one who runs the test.
class SshServer {
public:
    /// Where sshd is; empty where it is not installed.
    static QString program();

    SshServer();
    /// Ends it and everything that it started.
    ~SshServer();

    /// Lines of sshd_config beside ours; before start().
    void add(const QString& line) { m_lines.append(line); }
    /// The type of the host key; ed25519 if not told.
    void useHostKey(const QString& type) { m_hostKeyType = type; }
    /// False where it does not come up, with the reason in said().
    bool start();
    void stop();
    pid_t processId() const { return static_cast<pid_t>(m_process.processId()); }
    /// Processes that serve connections now.
    QList<pid_t> sessions() const;
    /// Ends every connection as when its server dies; what runs there is left to itself.
    void cutSessions() const;
    /// Processes whose command line holds `words` and a path in our folder.
    QList<pid_t> processesOf(const QByteArray& words) const;

    quint16 port() const { return m_port; }
    QString user() const;
    QString address() const; ///< "user@127.0.0.1:port"
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString userKey() const { return path(QStringLiteral("user")); }
    QByteArray hostPublicKey() const; ///< "ssh-ed25519 AAAA..."
    QByteArray said() const;

    /// Makes a key pair in the folder; the path of its private half.
    QString makeKey(
        const QString& name, const QString& type = QStringLiteral("ed25519"),
        const QString& passphrase = {}) const;
    /// Lets a public key of the folder in.
    void allow(const QString& name) const;

    /// Options with every file in the folder: nothing of the real user is looked at.
    app::SshOptions options() const;
    app::SshTarget target() const;

private:
    QTemporaryDir m_folder;
    QStringList m_lines;
    QString m_hostKeyType = QStringLiteral("ed25519");
    QProcess m_process;
    quint16 m_port = 0;
};

/// Connects, believes the host, logs in.
base::Result<std::unique_ptr<app::SshLink>> connectBoard(
    const app::SshRoute& route, const app::SshOptions& options, app::SshQuestions& questions,
    std::shared_ptr<app::Wake> wake);

/// Processes below `parent`, the deepest first.
QList<pid_t> processesBelow(pid_t parent);
/// Those, and itself.
QList<pid_t> processTree(pid_t top);
/// The one below `parent` whose command line holds `words`; 0 where there is none.
pid_t processBelow(pid_t parent, const QByteArray& words);

} // namespace shardscope::testing
