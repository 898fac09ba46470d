// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/private_key.h"

#include <QFile>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;

namespace {

constexpr qint64 kLargestKey = 64 << 10;
const QByteArray kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----";
const QByteArray kEnd = "-----END OPENSSH PRIVATE KEY-----";
const QByteArray kMagic("openssh-key-v1\0", 15);

/// The cipher's name and the public key stand in clear before the secret part.
bool readOpenSsh(const QByteArray& text, PrivateKeyFacts& facts) {
    const qsizetype from = text.indexOf(kBegin) + kBegin.size(), to = text.indexOf(kEnd);
    if (to < from)
        return false;
    const QByteArray bytes = QByteArray::fromBase64(text.mid(from, to - from));
    if (!bytes.startsWith(kMagic))
        return false;
    QByteArrayView rest = QByteArrayView(bytes).sliced(kMagic.size());
    facts.encrypted = takeSshString(rest) != "none";
    takeSshString(rest); // the derivation of the key from the passphrase
    takeSshString(rest); // and its options
    if (rest.size() < 4)
        return false;
    rest = rest.sliced(4); // the number of keys, which is one
    facts.publicKey.blob = takeSshString(rest);
    facts.isRsa = facts.publicKey.type() == "ssh-rsa";
    return !facts.publicKey.type().isEmpty();
}

/// The public half that ssh-keygen leaves beside it.
HostKey publicHalf(const QString& path) {
    QFile file(path + QStringLiteral(".pub"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QList<QByteArray> words = file.read(kLargestKey).simplified().split(' ');
    return words.size() < 2 ? HostKey{} : HostKey{QByteArray::fromBase64(words[1])};
}

} // namespace

base::Result<PrivateKeyFacts> inspectPrivateKey(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{
            ErrorCode::BadInput, "the key file cannot be read: " + file.errorString().toStdString(),
            path.toStdString(), "give the private key, or make one: ssh-keygen -t ed25519"};
    const QByteArray text = file.read(kLargestKey);
    PrivateKeyFacts facts;
    if (text.contains(kBegin)) {
        if (readOpenSsh(text, facts))
            return facts;
    } else if (text.contains("PRIVATE KEY-----")) {
        facts.encrypted = text.contains("ENCRYPTED");
        facts.isRsa = text.contains("BEGIN RSA");
        facts.publicKey = publicHalf(path);
        facts.isRsa |= facts.publicKey.type() == "ssh-rsa";
        return facts;
    }
    const bool isPublic = text.startsWith("ssh-") || text.startsWith("ecdsa-");
    return Error{
        ErrorCode::BadInput, isPublic ? "this is the public key" : "this is no private key",
        path.toStdString(),
        isPublic ? "give the file without .pub" : "make one: ssh-keygen -t ed25519"};
}

} // namespace shardscope::app
