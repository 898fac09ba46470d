// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_options.h"

#include <pwd.h>
#include <unistd.h>

#include <QDir>
#include <QStandardPaths>

#include "app/remote/ssh/ssh_config.h"

namespace shardscope::app {

namespace {

QString localUser() {
    const passwd* entry = ::getpwuid(::getuid());
    return entry ? QString::fromLocal8Bit(entry->pw_name) : qEnvironmentVariable("USER");
}

} // namespace

SshOptions SshOptions::standard() {
    SshOptions options;
    options.sshFolder = QDir::homePath() + QStringLiteral("/.ssh");
    options.ownHosts = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
                       QStringLiteral("/shardscope/known_hosts");
    options.agentSocket = qEnvironmentVariable("SSH_AUTH_SOCK");
    return options;
}

QString SshRoute::name() const {
    return SshTarget{user, host, port}.text();
}

base::Result<SshRoute> resolveRoute(const SshTarget& target, const SshOptions& options) {
    const SshHostSettings settings =
        sshSettings(target.host, target.user, options.sshFolder + QStringLiteral("/config"));
    if (!settings.jump.isEmpty())
        return base::Error{
            base::ErrorCode::Connection,
            "~/.ssh/config leads to this host by " + settings.jump.toStdString() +
                ", which is not supported",
            target.host.toStdString(),
            "give an address that this machine reaches, for instance a tunnel of `ssh -L`"};
    SshRoute route;
    route.host = settings.hostName.isEmpty() ? target.host : settings.hostName;
    route.user = !target.user.isEmpty() ? target.user : settings.user;
    if (route.user.isEmpty())
        route.user = localUser();
    if (target.port != 0)
        route.port = target.port;
    else if (settings.port != 0)
        route.port = settings.port;
    route.identities = settings.identities;
    route.identitiesOnly = settings.identitiesOnly;
    if (!options.identity.isEmpty()) {
        route.identities.removeAll(options.identity);
        route.identities.prepend(options.identity);
        route.chosen = true;
    }
    return route;
}

} // namespace shardscope::app
