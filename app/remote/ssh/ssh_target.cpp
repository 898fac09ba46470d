// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_target.h"

#include <algorithm>

namespace shardscope::app {

namespace {

const QString kScheme = QStringLiteral("ssh://");

/// A word that no shell, log or file takes for something else.
bool isPlain(const QString& word) {
    return !word.startsWith(QLatin1Char('-')) && std::all_of(word.begin(), word.end(), [](QChar c) {
        return c.isPrint() && !c.isSpace() && !QStringLiteral("'\"`\\;&<>|/,").contains(c);
    });
}

} // namespace

QString SshTarget::text() const {
    QString all = user.isEmpty() ? QString() : user + QLatin1Char('@');
    const bool isV6 = host.contains(QLatin1Char(':'));
    all += isV6 ? QLatin1Char('[') + host + QLatin1Char(']') : host;
    if (port != 0)
        all += QLatin1Char(':') + QString::number(port);
    return user.isEmpty() ? kScheme + all : all;
}

bool isSshTarget(const QString& board) {
    return board.startsWith(kScheme) ||
           (board.contains(QLatin1Char('@')) && !board.contains(QLatin1Char('/')));
}

base::Result<SshTarget> parseSshTarget(const QString& text) {
    const base::Error error{
        base::ErrorCode::Usage, "this is no user@host or user@host:port", text.toStdString(),
        "write it like pi@192.168.1.20 or root@board.local:2222"};
    QString rest = text.startsWith(kScheme) ? text.mid(kScheme.size()) : text;
    SshTarget target;
    if (const qsizetype at = rest.lastIndexOf(QLatin1Char('@')); at >= 0) {
        target.user = rest.left(at);
        rest = rest.mid(at + 1);
        if (target.user.isEmpty())
            return error;
    }
    QString port;
    bool hasPort = false;
    if (rest.startsWith(QLatin1Char('['))) {
        const qsizetype end = rest.indexOf(QLatin1Char(']'));
        if (end < 0 || (end + 1 < rest.size() && rest[end + 1] != QLatin1Char(':')))
            return error;
        hasPort = end + 1 < rest.size();
        port = rest.mid(end + 2);
        target.host = rest.mid(1, end - 1);
    } else if (rest.count(QLatin1Char(':')) == 1) {
        hasPort = true;
        port = rest.section(QLatin1Char(':'), 1);
        target.host = rest.section(QLatin1Char(':'), 0, 0);
    } else {
        target.host = rest; // an address of IPv6 has more colons, and no port without brackets
    }
    bool isNumber = true;
    if (hasPort)
        target.port = port.toUShort(&isNumber);
    if (!isNumber || (hasPort && target.port == 0) || target.host.isEmpty() ||
        !isPlain(target.host) || !isPlain(target.user))
        return error;
    return target;
}

} // namespace shardscope::app
