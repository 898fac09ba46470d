// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_link.h"

#include <algorithm>
#include <poll.h>
#include <sys/socket.h>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

constexpr int kLongestWaitMs = 1000; ///< between two looks at the clock of silence
constexpr int kFreeTries = 100;
constexpr std::chrono::milliseconds kAbsence{2000};

/// In our order of liking; what libssh2 does not know is dropped by it.
const QList<QByteArray> kKeyTypes{
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
    "ssh-rsa"};

bool startLibrary() {
    static const bool started = libssh2_init(0) == 0;
    return started;
}

/// Those of our key types that this libssh2 has: 1.10 copies a list with others onto itself.
QList<QByteArray> keyTypesOf(LIBSSH2_SESSION* session) {
    const char** names = nullptr;
    const int count = libssh2_session_supported_algs(session, LIBSSH2_METHOD_HOSTKEY, &names);
    QList<QByteArray> supported;
    for (int i = 0; i < count; ++i)
        supported.append(names[i]);
    if (count > 0)
        libssh2_free(session, static_cast<void*>(names));
    QList<QByteArray> types;
    for (const QByteArray& type : kKeyTypes)
        if (supported.contains(type))
            types.append(type);
    return types;
}

/// A file knows RSA keys as "ssh-rsa", whatever hash they sign with.
QByteArray preferences(QList<QByteArray> types, const QList<QByteArray>& known) {
    const auto isKnown = [&](const QByteArray& type) {
        return known.contains(type.startsWith("rsa-") ? QByteArray("ssh-rsa") : type);
    };
    std::stable_partition(types.begin(), types.end(), isKnown);
    return types.join(',');
}

} // namespace

SshLink::SshLink(QString name, std::shared_ptr<Wake> wake)
    : m_name(std::move(name)), m_wake(std::move(wake)) {}

SshLink::~SshLink() {
    if (!m_session)
        return;
    if (!isSending())
        libssh2_session_disconnect(m_session, "done"); // tried once: nobody waits for it
    ::shutdown(m_socket.value(), SHUT_RDWR); // so that nothing below waits for the other side
    for (int i = 0; i < kFreeTries && libssh2_session_free(m_session) == LIBSSH2_ERROR_EAGAIN; ++i)
        ;
}

bool SshLink::knowsModernRsa() {
    return libssh2_version(0x010b00) != nullptr;
}

Result<std::unique_ptr<SshLink>> SshLink::open(
    const QString& host, quint16 port, const QString& name, const QList<QByteArray>& known,
    const Deadline& deadline, std::shared_ptr<Wake> wake) {
    if (!startLibrary())
        return Error{ErrorCode::Failed, "libssh2 does not start", name.toStdString(), ""};
    std::unique_ptr<SshLink> link(new SshLink(name, std::move(wake)));
    auto socket = tcpConnect(host, port, deadline, *link->m_wake);
    if (!socket)
        return socket.error();
    link->m_socket = std::move(*socket);
    link->m_session = libssh2_session_init_ex(nullptr, nullptr, nullptr, nullptr);
    if (!link->m_session)
        return Error{ErrorCode::Failed, "no memory for a connection", name.toStdString(), ""};
    if (Status status = link->shakeHands(known, deadline); !status)
        return status.error();
    return link;
}

Status SshLink::shakeHands(const QList<QByteArray>& known, const Deadline& deadline) {
    libssh2_session_set_blocking(m_session, 0);
    libssh2_session_method_pref(
        m_session, LIBSSH2_METHOD_HOSTKEY, preferences(keyTypesOf(m_session), known).constData());
    const int status =
        repeat(deadline, [&] { return libssh2_session_handshake(m_session, m_socket.value()); });
    if (status == 0)
        return {};
    if (status != LIBSSH2_ERROR_KEX_FAILURE || knowsModernRsa())
        return failure(status, "the SSH handshake");
    return Error{
        ErrorCode::Connection,
        "no way to agree on keys: perhaps this host has an RSA key alone, which libssh2 " +
            std::string(libssh2_version(0)) + " cannot check with today's servers",
        m_name.toStdString(),
        "give the host another key: ssh-keygen -t ed25519 -N '' -f "
        "/etc/ssh/ssh_host_ed25519_key, then restart its sshd"};
}

HostKey SshLink::hostKey() const {
    std::size_t size = 0;
    int type = 0;
    const char* blob = libssh2_session_hostkey(m_session, &size, &type);
    return {blob ? QByteArray(blob, static_cast<qsizetype>(size)) : QByteArray()};
}

void SshLink::keepAlive(Milliseconds interval, Milliseconds silence) {
    m_interval = interval;
    m_silence = silence;
    m_lastHeard = m_lastSign = Deadline::Clock::now();
    libssh2_keepalive_config(m_session, 1, 1); // we tell when; it shall only want an answer
}

void SshLink::signOfLife() {
    const auto now = Deadline::Clock::now();
    pollfd room{m_socket.value(), POLLOUT, 0};
    // A sign that is half sent would stand in the way of what comes next.
    if (now - m_lastSign < m_interval || isSending() || ::poll(&room, 1, 0) != 1)
        return;
    m_lastSign = now;
    int next = 0;
    libssh2_keepalive_send(m_session, &next);
}

bool SshLink::isSending() const {
    return (libssh2_session_block_directions(m_session) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
}

int SshLink::wait(const Deadline& deadline) {
    const bool watched = m_interval.count() > 0;
    // Who has not listened has not heard either: work between two waits is no silence.
    if (Deadline::Clock::now() - m_lastWait > kAbsence)
        m_lastHeard = Deadline::Clock::now();
    if (watched)
        signOfLife();
    const int most = watched ? std::clamp(static_cast<int>(m_interval.count()), 1, kLongestWaitMs)
                             : kLongestWaitMs;
    // While a packet is half sent nothing is read: what could be would only keep us awake.
    const short events = isSending() ? POLLOUT : POLLIN;
    const int came = waitFor(m_socket.value(), events, deadline.pollMs(most), *m_wake);
    m_lastWait = Deadline::Clock::now();
    if (came < 0)
        return kCancelled;
    if (came > 0)
        m_lastHeard = Deadline::Clock::now();
    else if (deadline.passed())
        return kTimedOut;
    else if (watched && Deadline::Clock::now() - m_lastHeard > m_silence)
        return kSilent;
    return 0;
}

int SshLink::repeat(const Deadline& deadline, const std::function<int()>& call) {
    for (;;) {
        const int status = call();
        if (status != LIBSSH2_ERROR_EAGAIN)
            return status;
        if (const int waited = wait(deadline); waited != 0)
            return waited;
    }
}

Error SshLink::failure(int status, const std::string& doing) const {
    Error error{ErrorCode::Connection, "", m_name.toStdString(), "try again"};
    switch (status) {
    case kTimedOut:
    case LIBSSH2_ERROR_TIMEOUT:
        error.what = "no answer in time during " + doing;
        error.mend = "check the board and the network";
        return error;
    case kCancelled:
        return {ErrorCode::Failed, "stopped during " + doing, m_name.toStdString(), ""};
    case kSilent:
        error.what = "nothing was heard from the board for " +
                     std::to_string(std::chrono::ceil<std::chrono::seconds>(m_silence).count()) +
                     " s during " + doing;
        error.mend = "check the board and the network, then connect again";
        return error;
    case LIBSSH2_ERROR_SOCKET_DISCONNECT:
    case LIBSSH2_ERROR_SOCKET_RECV:
    case LIBSSH2_ERROR_SOCKET_SEND:
        error.what = "the connection was lost during " + doing;
        error.mend = "connect again";
        return error;
    case LIBSSH2_ERROR_BANNER_RECV:
    case LIBSSH2_ERROR_PROTO:
        error.what = "no SSH server answers in a way that is understood, during " + doing;
        error.mend = "check the port";
        return error;
    default:
        break;
    }
    char* text = nullptr;
    libssh2_session_last_error(m_session, &text, nullptr, 0);
    error.what = doing + " failed: " + (text && *text ? text : "no reason given") + " (" +
                 std::to_string(status) + ")";
    return error;
}

} // namespace shardscope::app
