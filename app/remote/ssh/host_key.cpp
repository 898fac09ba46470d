// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/host_key.h"

#include <QCryptographicHash>
#include <QtEndian>

namespace shardscope::app {

QByteArray takeSshString(QByteArrayView& data) {
    if (data.size() < 4)
        return {};
    const qsizetype size = qFromBigEndian<quint32>(data.data());
    if (size > data.size() - 4)
        return {};
    const QByteArray text = data.sliced(4, size).toByteArray();
    data = data.sliced(4 + size);
    return text;
}

void appendSshString(QByteArray& data, QByteArrayView text) {
    char size[4];
    qToBigEndian(static_cast<quint32>(text.size()), size);
    data.append(size, 4);
    data.append(text.data(), text.size());
}

QByteArray HostKey::type() const {
    QByteArrayView rest(blob);
    return takeSshString(rest);
}

QString HostKey::typeName() const {
    const QByteArray name = type();
    if (name.startsWith("ecdsa-"))
        return QStringLiteral("ecdsa");
    return QString::fromLatin1(name.startsWith("ssh-") ? name.mid(4) : name);
}

QString HostKey::fingerprint() const {
    return QStringLiteral("SHA256:") +
           QString::fromLatin1(
               QCryptographicHash::hash(blob, QCryptographicHash::Sha256)
                   .toBase64(QByteArray::Base64Encoding | QByteArray::OmitTrailingEquals));
}

} // namespace shardscope::app
