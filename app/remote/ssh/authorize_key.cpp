// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/authorize_key.h"

#include <QSysInfo>

#include "app/remote/ssh/private_key.h"
#include "app/remote/ssh/ssh_channel.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

constexpr std::chrono::seconds kPatience{20};

} // namespace

Result<QByteArray> publicKeyLine(const QString& privateKey) {
    auto facts = inspectPrivateKey(privateKey);
    if (!facts)
        return facts.error();
    const HostKey& key = facts->publicKey;
    if (key.type().isEmpty())
        return Error{
            ErrorCode::BadInput, "the public half of this key is not there",
            privateKey.toStdString(), "make it: ssh-keygen -y -f KEY > KEY.pub"};
    return key.type() + ' ' + key.blob.toBase64() + " shardscope@" +
           QSysInfo::machineHostName().toUtf8();
}

Result<bool> authorizeKey(SshLink& link, const QByteArray& line) {
    // Compared by the key alone, since comments differ. A file without a last newline gets one.
    const QByteArray key = line.split(' ').value(1);
    const QByteArray script =
        "LC_ALL=C; export LC_ALL; umask 077; d=$HOME/.ssh; f=$d/authorized_keys\n"
        "mkdir -p \"$d\" || exit 1\n"
        "grep -qF " +
        shellQuoted(QString::fromLatin1(key)) +
        " \"$f\" 2>/dev/null && { echo shardscope:there; exit 0; }\n"
        "[ -s \"$f\" ] && [ -n \"$(tail -c 1 \"$f\")\" ] && { echo >>\"$f\" || exit 1; }\n"
        "echo " +
        shellQuoted(QString::fromUtf8(line)) +
        " >>\"$f\" || exit 1\n"
        "echo shardscope:added\n";
    auto output = runCommand(link, shellCommand(script), Deadline(kPatience));
    if (!output)
        return output.error();
    if (output->output.contains("shardscope:there"))
        return false;
    if (output->output.contains("shardscope:added"))
        return true;
    return Error{
        ErrorCode::Failed, "the key cannot be put on the board: " + output->lastError(),
        link.name().toStdString(), "look at ~/.ssh/authorized_keys there"};
}

} // namespace shardscope::app
