// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

namespace shardscope::app {

/// A public key in the form of RFC 4253, section 6.6: its type as a string, then its numbers.
struct HostKey {
    QByteArray blob;

    /// "ssh-ed25519"; empty where the blob is none.
    QByteArray type() const;
    /// "ed25519", "ecdsa", "rsa": what people call it.
    QString typeName() const;
    /// "SHA256:" and the hash in base64 without padding, as ssh shows it.
    QString fingerprint() const;

    bool operator==(const HostKey&) const = default;
};

/// Takes a length-prefixed string off the front of `data`; an empty one where there is none.
QByteArray takeSshString(QByteArrayView& data);
void appendSshString(QByteArray& data, QByteArrayView text);

} // namespace shardscope::app
