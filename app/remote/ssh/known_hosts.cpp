// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/known_hosts.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLockFile>
#include <QMessageAuthenticationCode>
#include <QSaveFile>

#include "app/remote/ssh/ssh_config.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Status;

namespace {

constexpr qint64 kLargestFile = 16 << 20;
constexpr int kLockMs = 5000;

/// "|1|salt|hash": HMAC-SHA1 of the name under the salt.
bool matchesHashed(const QByteArray& hosts, const QString& name) {
    const QList<QByteArray> parts = hosts.split('|');
    return parts.size() == 4 && parts[1] == "1" &&
           QMessageAuthenticationCode::hash(
               name.toUtf8(), QByteArray::fromBase64(parts[2]), QCryptographicHash::Sha1) ==
               QByteArray::fromBase64(parts[3]);
}

} // namespace

QString knownHostName(const QString& host, quint16 port) {
    const QString name = host.toLower();
    return port == 22 ? name : QStringLiteral("[%1]:%2").arg(name).arg(port);
}

KnownHosts KnownHosts::read(const QStringList& files) {
    KnownHosts all;
    for (const QString& path : files)
        if (QFile file(path); file.open(QIODevice::ReadOnly))
            all.add(file.read(kLargestFile), path);
    return all;
}

void KnownHosts::add(const QByteArray& text, const QString& file) {
    int number = 0;
    for (const QByteArray& raw : text.split('\n')) {
        ++number;
        QList<QByteArray> words = raw.simplified().split(' ');
        if (words.first().isEmpty() || words.first().startsWith('#'))
            continue;
        Entry entry;
        if (words.first().startsWith('@'))
            entry.marker = words.takeFirst() == "@revoked" ? Marker::Revoked : Marker::Other;
        if (words.size() < 3)
            continue;
        entry.hosts = words[0];
        entry.key.blob = QByteArray::fromBase64(words[2]);
        entry.file = file;
        entry.line = number;
        if (entry.key.type() == words[1]) // else no key at all
            m_entries.append(entry);
    }
}

bool KnownHosts::matches(const Entry& entry, const QString& name) {
    if (entry.hosts.startsWith('|'))
        return matchesHashed(entry.hosts, name);
    bool found = false;
    for (const QByteArray& word : entry.hosts.split(',')) {
        const QString pattern = QString::fromUtf8(word);
        if (pattern.startsWith(QLatin1Char('!')) && matchesPattern(pattern.mid(1), name))
            return false;
        found |= matchesPattern(pattern, name);
    }
    return found;
}

KnownHosts::Verdict KnownHosts::check(
    const QString& host, quint16 port, const HostKey& key,
    const std::function<bool(const QByteArray&)>& canAskFor) const {
    const QString name = knownHostName(host, port), plain = knownHostName(host, 22);
    Verdict verdict;
    const auto decide = [&](State state, const Entry& entry) {
        verdict.state = state;
        verdict.file = entry.file;
        verdict.line = entry.line;
    };
    for (const Entry& entry : m_entries) {
        const bool here = matches(entry, name);
        // A host's other port has the same key more often than not, but may have another one.
        if (!here && !(entry.key == key && matches(entry, plain)))
            continue;
        if (entry.marker == Marker::Revoked && entry.key == key) {
            decide(State::Revoked, entry);
            return verdict;
        }
        if (entry.marker != Marker::None)
            continue; // an authority signs other keys; it is none of a host
        verdict.known.append(entry.key);
        if (entry.key == key)
            decide(State::Known, entry);
        else if (
            verdict.state == State::Unknown &&
            (entry.key.type() == key.type() || canAskFor(entry.key.type())))
            decide(State::Changed, entry);
    }
    return verdict;
}

QList<QByteArray> KnownHosts::typesFor(const QString& host, quint16 port) const {
    QList<QByteArray> types;
    for (const Entry& entry : m_entries)
        if (entry.marker == Marker::None && matches(entry, knownHostName(host, port)) &&
            !types.contains(entry.key.type()))
            types.append(entry.key.type());
    return types;
}

Status rememberHost(const QString& path, const QString& host, quint16 port, const HostKey& key) {
    const auto failure = [&](const QString& why) {
        return Error{
            ErrorCode::Failed, ("the host cannot be remembered: " + why).toStdString(),
            path.toStdString(), "look at permissions and space of this folder"};
    };
    const QString folder = QFileInfo(path).path();
    if (!QDir().mkpath(folder))
        return failure(QStringLiteral("its folder cannot be made"));
    QLockFile lock(path + QStringLiteral(".lock"));
    if (!lock.tryLock(kLockMs))
        return failure(QStringLiteral("another program holds the file"));
    QByteArray text;
    if (QFile old(path); old.exists()) {
        if (!old.open(QIODevice::ReadOnly))
            return failure(old.errorString());
        text = old.readAll();
        if (!text.isEmpty() && !text.endsWith('\n'))
            text += '\n';
    }
    text +=
        knownHostName(host, port).toUtf8() + ' ' + key.type() + ' ' + key.blob.toBase64() + '\n';
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
        return failure(file.errorString());
    return {};
}

} // namespace shardscope::app
