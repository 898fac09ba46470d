// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_connect.h"

#include "app/remote/ssh/known_hosts.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

KnownHosts knownHosts(const SshOptions& options) {
    return KnownHosts::read(
        {options.ownHosts, options.sshFolder + QStringLiteral("/known_hosts"),
         options.sshFolder + QStringLiteral("/known_hosts2"),
         QStringLiteral("/etc/ssh/ssh_known_hosts")});
}

std::string described(const HostKey& key) {
    return (key.typeName() + QLatin1Char(' ') + key.fingerprint()).toStdString();
}

bool canAskFor(const QByteArray& type) {
    return (type != "ssh-rsa" || SshLink::knowsModernRsa()) &&
           (type == "ssh-ed25519" || type == "ssh-rsa" || type.startsWith("ecdsa-"));
}

Error changedKey(const SshLink& link, const SshRoute& route, const KnownHosts::Verdict& verdict) {
    std::string known;
    for (const HostKey& key : verdict.known)
        known += (known.empty() ? "" : ", ") + described(key);
    return {
        ErrorCode::Connection,
        "the host key has CHANGED: it is now " + described(link.hostKey()) + ", but " + known +
            " is known from " + verdict.file.toStdString() + ":" + std::to_string(verdict.line),
        link.name().toStdString(),
        "if the board was set up anew: ssh-keygen -f '" + verdict.file.toStdString() + "' -R '" +
            knownHostName(route.host, route.port).toStdString() +
            "'; if not, somebody may stand in between"};
}

Error unknownHost(const SshLink& link) {
    return {
        ErrorCode::Connection, "this host is not known; its key is " + described(link.hostKey()),
        link.name().toStdString(),
        "compare it with `ssh-keygen -lf /etc/ssh/ssh_host_" +
            link.hostKey().typeName().toStdString() +
            "_key.pub` on the board, then give --accept-new-host"};
}

} // namespace

Result<std::unique_ptr<SshLink>>
openLink(const SshRoute& route, const SshOptions& options, std::shared_ptr<Wake> wake) {
    return SshLink::open(
        route.host, route.port, route.name(), knownHosts(options).typesFor(route.host, route.port),
        Deadline(options.connecting), std::move(wake));
}

Result<QString> trustHost(
    SshLink& link, const SshRoute& route, const SshOptions& options, SshQuestions& questions) {
    const HostKey key = link.hostKey();
    const QString line = QStringLiteral("%1 %2").arg(key.typeName(), key.fingerprint());
    const KnownHosts::Verdict verdict =
        knownHosts(options).check(route.host, route.port, key, canAskFor);
    switch (verdict.state) {
    case KnownHosts::State::Known:
        return line;
    case KnownHosts::State::Changed:
        return changedKey(link, route, verdict);
    case KnownHosts::State::Revoked:
        return Error{
            ErrorCode::Connection,
            "the host key " + described(key) + " is revoked by " + verdict.file.toStdString() +
                ":" + std::to_string(verdict.line),
            link.name().toStdString(), "do not connect; ask who revoked it"};
    case KnownHosts::State::Unknown:
        break;
    }
    if (!options.acceptNewHost) {
        if (!questions.canAsk())
            return unknownHost(link);
        SshQuestion question;
        question.title = link.name();
        question.keyType = key.typeName();
        question.fingerprint = key.fingerprint();
        if (!questions.ask(question, link.wake()))
            return unknownHost(link);
    }
    if (Status status = rememberHost(options.ownHosts, route.host, route.port, key); !status)
        return status.error();
    return line + QStringLiteral(", new");
}

} // namespace shardscope::app
