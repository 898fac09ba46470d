// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/ssh_server.h"

#include <arpa/inet.h>
#include <csignal>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>

#include "app/remote/ssh/ssh_connect.h"
#include "app/remote/ssh/ssh_login.h"

namespace shardscope::testing {

namespace {

/// A port that was free a moment ago.
quint16 freePort() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(descriptor);
    return ntohs(address.sin_port);
}

bool answers(quint16 port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool there =
        ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(descriptor);
    return there;
}

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

QString SshServer::program() {
    // It must be called by its whole path.
    for (const char* place : {"/usr/sbin/sshd", "/usr/local/sbin/sshd"})
        if (QFileInfo(QLatin1String(place)).isExecutable())
            return QLatin1String(place);
    return {};
}

SshServer::SshServer() {
    // Readable from outside, since sshd looks at the folder of its files.
    QFile::setPermissions(
        m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner | QFile::ReadOther |
                             QFile::ExeOther);
    QDir(m_folder.path()).mkdir(QStringLiteral("ssh"));
    makeKey(QStringLiteral("user"));
    allow(QStringLiteral("user"));
}

SshServer::~SshServer() {
    stop();
}

QString
SshServer::makeKey(const QString& name, const QString& type, const QString& passphrase) const {
    QStringList words{QStringLiteral("-q"), QStringLiteral("-t"), type,      QStringLiteral("-N"),
                      passphrase,           QStringLiteral("-f"), path(name)};
    if (type == QLatin1String("rsa"))
        words += {QStringLiteral("-b"), QStringLiteral("2048")};
    QProcess::execute(QStringLiteral("ssh-keygen"), words);
    return path(name);
}

void SshServer::allow(const QString& name) const {
    QFile file(path(QStringLiteral("authorized_keys")));
    if (file.open(QIODevice::Append))
        file.write(contents(path(name + QStringLiteral(".pub"))));
}

bool SshServer::start() {
    const QString hostKey = QStringLiteral("host_") + m_hostKeyType;
    if (!QFileInfo::exists(path(hostKey)))
        makeKey(hostKey, m_hostKeyType);
    QDir().mkpath(QStringLiteral("/run/sshd")); // the real one's start makes it on a system
    if (m_port == 0)
        m_port = freePort();
    // The first value of a setting counts: those of a test stand first.
    QStringList lines = m_lines;
    lines +=
        {QStringLiteral("Port %1").arg(m_port), QStringLiteral("ListenAddress 127.0.0.1"),
         QStringLiteral("HostKey %1").arg(path(hostKey)),
         QStringLiteral("AuthorizedKeysFile %1").arg(path(QStringLiteral("authorized_keys"))),
         QStringLiteral("PasswordAuthentication no"), QStringLiteral("PermitRootLogin yes"),
         QStringLiteral("UsePAM no"), QStringLiteral("StrictModes no"),
         QStringLiteral("PidFile none"),
         // Not the real home: start files of its shell may do anything.
         QStringLiteral("SetEnv HOME=%1 XDG_CACHE_HOME=%2")
             .arg(path(QStringLiteral("home")), path(QStringLiteral("board")))};
    QDir().mkpath(path(QStringLiteral("home")));
    QFile config(path(QStringLiteral("sshd_config")));
    if (!config.open(QIODevice::WriteOnly))
        return false;
    config.write(lines.join(QLatin1Char('\n')).toUtf8() + '\n');
    config.close();
    m_process.setProcessChannelMode(QProcess::MergedChannels);
    m_process.setStandardOutputFile(path(QStringLiteral("log")));
    m_process.start(
        program(),
        {QStringLiteral("-D"), QStringLiteral("-e"), QStringLiteral("-f"), config.fileName()});
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 10000 && m_process.state() != QProcess::NotRunning) {
        if (answers(m_port))
            return true;
        m_process.waitForFinished(20);
    }
    return false;
}

void SshServer::stop() {
    const auto pid = static_cast<pid_t>(m_process.processId());
    if (m_process.state() == QProcess::NotRunning)
        return;
    const QList<pid_t> all = processesBelow(pid);
    for (const pid_t below : all) {
        ::kill(below, SIGKILL);
        ::kill(below, SIGCONT);
    }
    m_process.kill();
    m_process.waitForFinished(5000);
}

QList<pid_t> SshServer::sessions() const {
    QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(m_process.processId()));
    QList<pid_t> all;
    if (children.open(QIODevice::ReadOnly))
        for (const QByteArray& word : children.readAll().simplified().split(' '))
            if (const int pid = word.toInt(); pid > 0)
                all.append(pid);
    return all;
}

void SshServer::cutSessions() const {
    for (const pid_t session : sessions())
        for (const pid_t pid : processTree(session))
            if (contents(QStringLiteral("/proc/%1/cmdline").arg(pid)).startsWith("sshd"))
                ::kill(pid, SIGKILL);
}

QList<pid_t> SshServer::processesOf(const QByteArray& words) const {
    QList<pid_t> all;
    for (const QString& name : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        const QByteArray line =
            contents(QStringLiteral("/proc/%1/cmdline").arg(name)).replace('\0', ' ');
        if (line.contains(words) && line.contains(m_folder.path().toUtf8()))
            all.append(name.toInt());
    }
    return all;
}

QString SshServer::user() const {
    return QString::fromLocal8Bit(::getpwuid(::getuid())->pw_name);
}

QString SshServer::address() const {
    return QStringLiteral("%1@127.0.0.1:%2").arg(user()).arg(m_port);
}

QByteArray SshServer::hostPublicKey() const {
    const QList<QByteArray> words =
        contents(path(QStringLiteral("host_%1.pub").arg(m_hostKeyType))).simplified().split(' ');
    return words.value(0) + ' ' + words.value(1);
}

QByteArray SshServer::said() const {
    return contents(path(QStringLiteral("log")));
}

app::SshOptions SshServer::options() const {
    app::SshOptions options;
    options.identity = userKey();
    options.sshFolder = path(QStringLiteral("ssh"));
    options.ownHosts = path(QStringLiteral("own/known_hosts"));
    return options;
}

app::SshTarget SshServer::target() const {
    return {user(), QStringLiteral("127.0.0.1"), m_port};
}

base::Result<std::unique_ptr<app::SshLink>> connectBoard(
    const app::SshRoute& route, const app::SshOptions& options, app::SshQuestions& questions,
    std::shared_ptr<app::Wake> wake) {
    auto link = app::openLink(route, options, std::move(wake));
    if (!link)
        return link;
    if (auto trusted = app::trustHost(**link, route, options, questions); !trusted)
        return trusted.error();
    if (auto entered = app::logIn(**link, route, options, questions); !entered)
        return entered.error();
    return link;
}

QList<pid_t> processesBelow(pid_t parent) {
    QList<pid_t> all;
    QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(parent));
    if (children.open(QIODevice::ReadOnly))
        for (const QByteArray& word : children.readAll().simplified().split(' '))
            if (const int pid = word.toInt(); pid > 0)
                all += processesBelow(pid) << pid;
    return all;
}

QList<pid_t> processTree(pid_t top) {
    QList<pid_t> all = processesBelow(top);
    all.append(top);
    return all;
}

pid_t processBelow(pid_t parent, const QByteArray& words) {
    for (const pid_t pid : processesBelow(parent))
        if (contents(QStringLiteral("/proc/%1/cmdline").arg(pid))
                .replace('\0', ' ')
                .contains(words))
            return pid;
    return 0;
}

} // namespace shardscope::testing
