// SPDX-License-Identifier: GPL-3.0-or-later
// The part of ~/.ssh/config that is honoured here. Format: ssh_config(5).
#pragma once

#include <QString>
#include <QStringList>

namespace shardscope::app {

/// What the file says of one host; empty or 0 where it says nothing.
struct SshHostSettings {
    QString hostName;
    QString user;
    quint16 port = 0;
    QStringList identities; ///< key files in the order of the file, "~" and tokens resolved
    bool identitiesOnly = false;
    QString jump; ///< ProxyJump or ProxyCommand: a way that we do not go
};

/// Reads the settings of `host` (as it was written by the user): Host with patterns, HostName,
/// User, Port, IdentityFile, IdentitiesOnly, Include, and `Match all`; other Match blocks are left
/// out. The first value counts, as in ssh. A missing file says nothing. Thread-safe.
SshHostSettings sshSettings(const QString& host, const QString& user, const QString& configFile);

/// "*" and "?" stand for what they do in ssh; case does not matter.
bool matchesPattern(const QString& pattern, const QString& text);

} // namespace shardscope::app
