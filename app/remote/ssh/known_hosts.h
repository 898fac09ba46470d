// SPDX-License-Identifier: GPL-3.0-or-later
// Which key belongs to which host. Format: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT".
#pragma once

#include <functional>

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

#include "app/remote/ssh/host_key.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// The lines of known_hosts files. A value; reading is thread-safe.
class KnownHosts {
public:
    enum class State {
        Known,
        Unknown, ///< nothing is known of this host, or only keys that we cannot ask for
        Changed, ///< another key is known
        Revoked, ///< this key was revoked for this host
    };
    struct Verdict {
        State state = State::Unknown;
        QList<HostKey> known; ///< keys that stand for this host
        QString file;         ///< of the entry that decided
        int line = 0;
    };

    /// Files that are missing say nothing.
    static KnownHosts read(const QStringList& files);
    void add(const QByteArray& text, const QString& file);

    /// `canAskFor` tells whether a key of this type would have been negotiated if the host had it:
    /// where it would, a key of another type in its place is a change and not an addition.
    Verdict check(
        const QString& host, quint16 port, const HostKey& key,
        const std::function<bool(const QByteArray& type)>& canAskFor) const;
    /// The types of the keys known for a host: to be asked for first.
    QList<QByteArray> typesFor(const QString& host, quint16 port) const;

private:
    enum class Marker { None, Revoked, Other };
    struct Entry {
        Marker marker = Marker::None;
        QByteArray hosts;
        HostKey key;
        QString file;
        int line = 0;
    };
    static bool matches(const Entry& entry, const QString& name);

    QList<Entry> m_entries;
};

/// The name of a host in these files: "host", or "[host]:port".
QString knownHostName(const QString& host, quint16 port);

/// Adds a host to `file`, which is made if need be: by a new file in its place, under a lock, so
/// that no reader sees half of it and no entry of another program is lost.
base::Status
rememberHost(const QString& file, const QString& host, quint16 port, const HostKey& key);

} // namespace shardscope::app
