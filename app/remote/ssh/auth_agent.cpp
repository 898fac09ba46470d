// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/auth_agent.h"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <QFile>
#include <QtEndian>

namespace shardscope::app {

namespace {

constexpr char kRequestIdentities = 11;
constexpr char kIdentitiesAnswer = 12;
constexpr char kSignRequest = 13;
constexpr char kSignResponse = 14;
constexpr quint32 kLongestAnswer = 256 << 10;
constexpr std::chrono::seconds kListing{3};
constexpr std::chrono::seconds kSigning{60}; ///< the agent may ask its user

} // namespace

AuthAgent AuthAgent::open(const QString& socketPath, Wake& wake) {
    const QByteArray path = QFile::encodeName(socketPath);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    Descriptor socket;
    if (!path.isEmpty() && path.size() < static_cast<qsizetype>(sizeof address.sun_path)) {
        std::copy(path.begin(), path.end(), address.sun_path);
        socket = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (::connect(
                socket.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            socket = Descriptor();
    }
    AuthAgent agent(std::move(socket), wake);
    if (agent.m_socket.value() < 0)
        return agent;
    const QByteArray answer = agent.exchange(QByteArray(1, kRequestIdentities), Deadline(kListing));
    if (answer.size() < 5 || answer[0] != kIdentitiesAnswer)
        return agent;
    QByteArrayView rest = QByteArrayView(answer).sliced(5); // its type and a count
    while (!rest.isEmpty()) {
        const HostKey key{takeSshString(rest)};
        takeSshString(rest); // a comment
        if (key.type().isEmpty())
            break;
        agent.m_keys.append(key);
    }
    return agent;
}

QByteArray AuthAgent::sign(const HostKey& key, QByteArrayView data) {
    QByteArray message(1, kSignRequest);
    appendSshString(message, key.blob);
    appendSshString(message, data);
    message.append(4, '\0'); // no flags
    const QByteArray answer = exchange(message, Deadline(kSigning));
    if (answer.isEmpty() || answer[0] != kSignResponse)
        return {};
    QByteArrayView rest = QByteArrayView(answer).sliced(1);
    const QByteArray signature = takeSshString(rest);
    rest = signature;
    takeSshString(rest); // the name of the algorithm
    return takeSshString(rest);
}

QByteArray AuthAgent::exchange(const QByteArray& message, const Deadline& deadline) {
    QByteArray out;
    appendSshString(out, message);
    char head[4];
    if (!move(out.data(), out.size(), true, deadline) || !move(head, sizeof head, false, deadline))
        return {};
    const quint32 size = qFromBigEndian<quint32>(head);
    if (size == 0 || size > kLongestAnswer)
        return {};
    QByteArray answer(static_cast<qsizetype>(size), Qt::Uninitialized);
    return move(answer.data(), answer.size(), false, deadline) ? answer : QByteArray();
}

bool AuthAgent::move(char* bytes, qsizetype size, bool out, const Deadline& deadline) {
    while (size > 0) {
        const auto count = static_cast<std::size_t>(size);
        const ssize_t n = out ? ::send(m_socket.value(), bytes, count, MSG_NOSIGNAL)
                              : ::recv(m_socket.value(), bytes, count, 0);
        if (n > 0) {
            bytes += n;
            size -= n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        } else if (
            waitFor(m_socket.value(), out ? POLLOUT : POLLIN, deadline.pollMs(), *m_wake) < 0 ||
            deadline.passed()) {
            return false;
        }
    }
    return true;
}

} // namespace shardscope::app
