// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>

#include <QString>
#include <QStringList>

#include "app/remote/ssh/ssh_target.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// How a board is reached, and what of this user's files is looked at for it.
struct SshOptions {
    QString identity;           ///< the key file that was chosen; may be empty
    bool acceptNewHost = false; ///< take the key of a host that is met for the first time
    QString folder;             ///< on the board; empty: shardscope in its user's cache folder
    QStringList prefix;         ///< words before the agent's command: "nice", "-n", "5"

    QString sshFolder;   ///< ~/.ssh
    QString ownHosts;    ///< our own known_hosts
    QString agentSocket; ///< $SSH_AUTH_SOCK; empty: no agent

    std::chrono::milliseconds connecting{15'000}; ///< address, connection, handshake
    std::chrono::milliseconds login{120'000};     ///< as long as servers wait for it
    std::chrono::milliseconds keepAlive{5'000};
    std::chrono::milliseconds silence{20'000};

    /// The places of this user.
    static SshOptions standard();
};

/// Where it leads, with ~/.ssh/config taken into account.
struct SshRoute {
    QString host; ///< what is connected to, and what known_hosts calls it
    QString user;
    quint16 port = 22;
    QStringList identities; ///< to be offered first, in this order
    bool chosen = false;    ///< the first of them was named by the user just now
    bool identitiesOnly = false;

    /// "pi@10.0.0.7:22"
    QString name() const;
};

/// Connection error where ~/.ssh/config wants a jump host, which we cannot do.
base::Result<SshRoute> resolveRoute(const SshTarget& target, const SshOptions& options);

} // namespace shardscope::app
