// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <QByteArray>
#include <QList>
#include <QString>

#include <libssh2.h>

#include "app/remote/ssh/host_key.h"
#include "app/remote/ssh/tcp_connect.h"

namespace shardscope::app {

/// One SSH connection (libssh2), used by one worker thread. Nothing here blocks longer than its
/// deadline, a cancelled wake ends every wait, and with keep-alive on a silent peer is given up.
class SshLink {
public:
    using Milliseconds = std::chrono::milliseconds;
    /// What repeat() gives beside the error numbers of libssh2.
    static constexpr int kTimedOut = -1001;
    static constexpr int kCancelled = -1002;
    static constexpr int kSilent = -1003;

    /// Connects and agrees on keys. `known` are the types of host key to be asked for first.
    /// Connection error, also where the other side is no SSH server. `name` is for messages.
    static base::Result<std::unique_ptr<SshLink>> open(
        const QString& host, quint16 port, const QString& name, const QList<QByteArray>& known,
        const Deadline& deadline, std::shared_ptr<Wake> wake);
    /// Says goodbye if that takes no time, and closes.
    ~SshLink();

    const QString& name() const { return m_name; }
    /// The key that the host has proved to own.
    HostKey hostKey() const;
    LIBSSH2_SESSION* session() const { return m_session; }
    Wake& wake() const { return *m_wake; }

    /// Sends a sign of life each `interval`; a peer from which nothing is heard for `silence`
    /// counts as lost. To be called after the login.
    void keepAlive(Milliseconds interval, Milliseconds silence);

    /// Calls again while it says EAGAIN; its result, or one of the numbers above.
    int repeat(const Deadline& deadline, const std::function<int()>& call);
    /// The same for calls that give a pointer.
    template <typename T>
    T* repeatPointer(const Deadline& deadline, const std::function<T*()>& call) {
        T* got = nullptr;
        m_lastStatus = repeat(deadline, [&] {
            got = call();
            return got ? 0 : libssh2_session_last_errno(m_session);
        });
        return got;
    }
    int lastStatus() const { return m_lastStatus; }

    /// Waits for what the last call needs, for a ring of the wake, or for a second at most: 0, or
    /// one of the numbers above.
    int wait(const Deadline& deadline);
    /// Whether a packet is half sent: the same call must be repeated before any other.
    bool isSending() const;

    /// An error for a status: what was being done when it came.
    base::Error failure(int status, const std::string& doing) const;

    /// Whether RSA keys can be used with today's servers; they came with libssh2 1.11.
    static bool knowsModernRsa();

private:
    SshLink(QString name, std::shared_ptr<Wake> wake);
    base::Status shakeHands(const QList<QByteArray>& known, const Deadline& deadline);
    void signOfLife();

    QString m_name;
    std::shared_ptr<Wake> m_wake;
    Descriptor m_socket;
    LIBSSH2_SESSION* m_session = nullptr;
    int m_lastStatus = 0;
    Milliseconds m_interval{0}, m_silence{0};
    Deadline::Clock::time_point m_lastHeard, m_lastSign, m_lastWait;
};

} // namespace shardscope::app
