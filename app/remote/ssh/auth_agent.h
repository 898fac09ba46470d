// SPDX-License-Identifier: GPL-3.0-or-later
// The user's ssh-agent. Protocol: draft-miller-ssh-agent.
#pragma once

#include <QList>

#include "app/remote/ssh/host_key.h"
#include "app/remote/ssh/tcp_connect.h"

namespace shardscope::app {

/// Speaks with an ssh-agent over its socket; every exchange has a deadline and can be cancelled,
/// which those of libssh2 cannot. Worker threads.
class AuthAgent {
public:
    /// Without keys where there is no agent, or it does not answer.
    static AuthAgent open(const QString& socketPath, Wake& wake);

    const QList<HostKey>& keys() const { return m_keys; }
    /// The signature by `key` in the form of its algorithm; empty where the agent refuses.
    QByteArray sign(const HostKey& key, QByteArrayView data);

private:
    AuthAgent(Descriptor socket, Wake& wake) : m_socket(std::move(socket)), m_wake(&wake) {}
    QByteArray exchange(const QByteArray& message, const Deadline& deadline);
    bool move(char* bytes, qsizetype size, bool out, const Deadline& deadline);

    Descriptor m_socket;
    Wake* m_wake;
    QList<HostKey> m_keys;
};

} // namespace shardscope::app
