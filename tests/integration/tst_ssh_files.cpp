// SPDX-License-Identifier: GPL-3.0-or-later
// What is read and written beside a connection: addresses, ~/.ssh/config, known_hosts, key files.
#include <QMessageAuthenticationCode>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "app/remote/ssh/agent_files.h"
#include "app/remote/ssh/board_upload.h"
#include "app/remote/ssh/known_hosts.h"
#include "app/remote/ssh/private_key.h"
#include "app/remote/ssh/ssh_channel.h"
#include "app/remote/ssh/ssh_config.h"
#include "app/remote/ssh/ssh_options.h"

using namespace shardscope;
using namespace app;
using State = KnownHosts::State;

namespace {

HostKey keyOf(const QByteArray& type, char fill) {
    HostKey key;
    appendSshString(key.blob, type);
    appendSshString(key.blob, QByteArray(32, fill));
    return key;
}

const HostKey kKey = keyOf("ssh-ed25519", 'a');
const HostKey kOther = keyOf("ssh-ed25519", 'b');
const HostKey kRsa = keyOf("ssh-rsa", 'c');
const HostKey kEcdsa = keyOf("ecdsa-sha2-nistp256", 'd');

QByteArray line(const QByteArray& hosts, const HostKey& key) {
    return hosts + ' ' + key.type() + ' ' + key.blob.toBase64() + " a comment\n";
}

QByteArray hashed(const QByteArray& host) {
    const QByteArray salt = "01234567890123456789";
    return "|1|" + salt.toBase64() + '|' +
           QMessageAuthenticationCode::hash(host, salt, QCryptographicHash::Sha1).toBase64();
}

KnownHosts::Verdict check(const QByteArray& text, const QString& host, quint16 port = 22) {
    KnownHosts hosts;
    hosts.add(text, QStringLiteral("file"));
    return hosts.check(host, port, kKey, [](const QByteArray& type) { return type != "ssh-rsa"; });
}

} // namespace

Q_DECLARE_METATYPE(shardscope::app::KnownHosts::State)

class TestSshFiles : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString write(const QString& name, const QByteArray& text) {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("cannot write");
        return file.fileName();
    }

private slots:
    void addressesAreTakenApart_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("user");
        QTest::addColumn<QString>("host");
        QTest::addColumn<int>("port");
        QTest::newRow("user and host") << "pi@10.0.0.7"
                                       << "pi"
                                       << "10.0.0.7" << 0;
        QTest::newRow("with a port") << "root@board.local:2222"
                                     << "root"
                                     << "board.local" << 2222;
        QTest::newRow("IPv6") << "pi@[fe80::1%eth0]:22"
                              << "pi"
                              << "fe80::1%eth0" << 22;
        QTest::newRow("bare IPv6") << "pi@fe80::1"
                                   << "pi"
                                   << "fe80::1" << 0;
        QTest::newRow("no user") << "ssh://board"
                                 << ""
                                 << "board" << 0;
        QTest::newRow("user with @") << "me@work@host"
                                     << "me@work"
                                     << "host" << 0;
    }
    void addressesAreTakenApart() {
        QFETCH(QString, text);
        QVERIFY(isSshTarget(text));
        const auto target = parseSshTarget(text);
        QVERIFY(target.ok());
        QTEST(target->user, "user");
        QTEST(target->host, "host");
        QTEST(int(target->port), "port");
        QCOMPARE(parseSshTarget(target->text())->host, target->host);
    }
    void strangeAddressesAreRefused() {
        for (const char* text :
             {"@host", "pi@", "pi@host:", "pi@host:0", "pi@host:99999", "pi@host:x", "pi@-oProxy",
              "-l@host", "pi@ho st", "pi@[fe80::1", "pi@[::1]22", "pi@a;b", "ssh://", "pi@$(x)`"})
            QVERIFY2(!parseSshTarget(QLatin1String(text)).ok(), text);
    }

    void theConfigurationIsHonoured() {
        write("extra.conf", "User fromInclude\n");
        const QString file = write(
            "config", "# a comment\n"
                      "IdentityFile ~/first # not a comment inside\n"
                      "Host pi* !pineapple\n"
                      "  HostName=%h.lan\n"
                      "  Port = 2222\n"
                      "  IdentityFile \"~/with space/%r@%h\"\n"
                      "Host other\n"
                      "  User wrong\n"
                      "Match exec \"true\"\n"
                      "  User wrong\n"
                      "Host *\n"
                      "  Include extra.conf\n"
                      "  Port 99\n"
                      "  IdentitiesOnly yes\n"
                      "Host jumped\n"
                      "  ProxyJump gate\n");
        const SshHostSettings s = sshSettings("pi4", "", file);
        QCOMPARE(s.hostName, QString("pi4.lan"));
        QCOMPARE(s.port, quint16{2222});
        QCOMPARE(s.user, QString("fromInclude"));
        QCOMPARE(
            s.identities, (QStringList{
                              QDir::homePath() + "/first",
                              QDir::homePath() + "/with space/fromInclude@pi4.lan"}));
        QVERIFY(s.identitiesOnly);
        QCOMPARE(sshSettings("pineapple", "", file).port, quint16{99});
        QCOMPARE(sshSettings("jumped", "", file).jump, QString("gate"));
        QCOMPARE(sshSettings("x", "", m_folder.filePath("missing")).port, quint16{0});
    }
    void aConfigurationThatIncludesItselfEnds() {
        const QString file = write("loop", "Include loop\nPort 7\n");
        QCOMPARE(sshSettings("x", "", file).port, quint16{7});
    }
    void whatIsToldCountsMoreThanTheConfiguration() {
        write("config", "Host b\n HostName 10.1.1.1\n Port 44\n User u\n IdentityFile /k\n");
        SshOptions options;
        options.sshFolder = m_folder.path();
        options.identity = "/chosen";
        auto route = resolveRoute({"me", "b", 22}, options);
        QVERIFY(route.ok());
        QCOMPARE(route->name(), QString("me@10.1.1.1:22"));
        QCOMPARE(route->identities, (QStringList{"/chosen", "/k"}));
        QCOMPARE(resolveRoute({"", "b", 0}, options)->name(), QString("u@10.1.1.1:44"));
    }

    void hostsAreFound_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("host");
        QTest::addColumn<int>("port");
        QTest::addColumn<State>("state");
        const auto row = [](const char* name, const QByteArray& text, const char* host, int port,
                            State state) {
            QTest::newRow(name) << text << QString(host) << port << state;
        };
        row("nothing known", "", "h", 22, State::Unknown);
        row("known", line("h", kKey), "h", 22, State::Known);
        row("case", line("Board.Local", kKey), "BOARD.local", 22, State::Known);
        row("in a list", line("a,h,b", kKey), "h", 22, State::Known);
        row("pattern", line("*.lan", kKey), "h.lan", 22, State::Known);
        row("pattern that excludes", line("*.lan,!h.lan", kKey), "h.lan", 22, State::Unknown);
        row("changed", line("h", kOther), "h", 22, State::Changed);
        row("second key", line("h", kOther) + line("h", kKey), "h", 22, State::Known);
        row("another type in its place", line("h", kEcdsa), "h", 22, State::Changed);
        row("a type we cannot ask for", line("h", kRsa), "h", 22, State::Unknown);
        row("hashed", line(hashed("h"), kKey), "h", 22, State::Known);
        row("hashed entry of another host first",
            line(hashed("other"), kOther) + line(hashed("h"), kKey), "h", 22, State::Known);
        row("hashed entry of another host alone", line(hashed("other"), kKey), "h", 22,
            State::Unknown);
        row("port", line("[h]:2222", kKey), "h", 2222, State::Known);
        row("hashed port", line(hashed("[h]:2222"), kKey), "h", 2222, State::Known);
        row("other port, other key", line("[h]:2222", kOther), "h", 22, State::Unknown);
        row("key of the plain port", line("h", kKey), "h", 2222, State::Known);
        row("other key of the plain port", line("h", kOther), "h", 2222, State::Unknown);
        row("revoked", line("@revoked h", kKey) + line("h", kKey), "h", 22, State::Revoked);
        row("revoked for all", line("h", kKey) + line("@revoked *", kKey), "h", 22, State::Revoked);
        row("another key revoked", line("@revoked h", kOther) + line("h", kKey), "h", 22,
            State::Known);
        row("authority", line("@cert-authority h", kKey), "h", 22, State::Unknown);
        row("name like a marker", line("@cert-authority *", kOther), "@cert-authority", 22,
            State::Unknown);
        row("noise",
            "x\n# h\n\n h ssh-ed25519\nh ssh-ed25519 !!!!\nh ssh-rsa " + kKey.blob.toBase64() +
                "\n",
            "h", 22, State::Unknown);
    }
    void hostsAreFound() {
        QFETCH(QByteArray, text);
        QFETCH(QString, host);
        QFETCH(int, port);
        QFETCH(State, state);
        QCOMPARE(check(text, host, static_cast<quint16>(port)).state, state);
    }
    void aChangedKeyNamesItsLineAndTheOldOne() {
        const auto verdict = check("# first\n" + line("h", kOther), "h");
        QCOMPARE(verdict.line, 2);
        QCOMPARE(verdict.file, QString("file"));
        QCOMPARE(verdict.known, QList<HostKey>{kOther});
    }

    void newHostsAreAddedAndTheRestIsKept() {
        const QString file = m_folder.filePath("own/known_hosts");
        QVERIFY(rememberHost(file, "Board", 2222, kKey).ok());
        QFile text(file);
        QVERIFY(text.open(QIODevice::Append));
        text.write("# a note of mine\nunknown line");
        text.close();
        QVERIFY(rememberHost(file, "second", 22, kOther).ok());
        const KnownHosts hosts = KnownHosts::read({file, m_folder.filePath("none")});
        const auto no = [](const QByteArray&) { return true; };
        QCOMPARE(hosts.check("board", 2222, kKey, no).state, State::Known);
        QCOMPARE(hosts.check("second", 22, kOther, no).state, State::Known);
        QCOMPARE(hosts.typesFor("board", 2222), QList<QByteArray>{"ssh-ed25519"});
        QVERIFY(text.open(QIODevice::ReadOnly));
        QVERIFY(text.readAll().contains("# a note of mine\nunknown line\n"));
    }
    void aFolderThatCannotBeWrittenIsTold() {
        const QString file = write("blocked", "x") + "/known_hosts";
        const base::Status status = rememberHost(file, "h", 22, kKey);
        QVERIFY(!status.ok());
        QVERIFY(status.error().where.find("blocked") != std::string::npos);
    }

    void keyFilesTellWhatTheyAre() {
        const auto make = [&](const QString& name, const QStringList& more) {
            QProcess::execute(
                "ssh-keygen", QStringList{"-q", "-f", m_folder.filePath(name)} + more);
            return inspectPrivateKey(m_folder.filePath(name));
        };
        auto plain = make("plain", {"-t", "ed25519", "-N", ""});
        QVERIFY(plain.ok() && !plain->encrypted && !plain->isRsa);
        QCOMPARE(plain->publicKey.typeName(), QString("ed25519"));
        auto locked = make("locked", {"-t", "ecdsa", "-N", "secret"});
        QVERIFY(locked.ok() && locked->encrypted);
        QCOMPARE(locked->publicKey.typeName(), QString("ecdsa"));
        auto rsa = make("rsa", {"-t", "rsa", "-b", "2048", "-N", "secret", "-m", "PEM"});
        QVERIFY(rsa.ok() && rsa->encrypted && rsa->isRsa);
        const auto half = inspectPrivateKey(m_folder.filePath("plain.pub"));
        QCOMPARE(half.error().what, std::string("this is the public key"));
        QVERIFY(!inspectPrivateKey(m_folder.filePath("missing")).ok());
        QVERIFY(!inspectPrivateKey(write(
                                       "cut", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n"
                                              "-----END OPENSSH PRIVATE KEY-----\n"))
                     .ok());
    }
    void fingerprintsAreThoseOfSsh() {
        QProcess::execute(
            "ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", m_folder.filePath("print")});
        QProcess keygen;
        keygen.start("ssh-keygen", {"-lf", m_folder.filePath("print.pub")});
        QVERIFY(keygen.waitForFinished());
        const auto facts = inspectPrivateKey(m_folder.filePath("print"));
        QVERIFY(facts.ok());
        QVERIFY(keygen.readAll().contains(facts->publicKey.fingerprint().toUtf8()));
    }

    void wordsSurviveAShell_data() {
        QTest::addColumn<QString>("word");
        for (const char* word :
             {"plain", "with space", "it's", "$HOME", "`id`", "a\nb", "\\", "-n", "\"", "*",
              "\u00e4", "';rm -rf x;'", ""})
            QTest::newRow(word) << QString::fromUtf8(word);
    }
    void wordsSurviveAShell() {
        QFETCH(QString, word);
        QProcess shell;
        const QByteArray script = "printf %s " + shellQuoted(word);
        shell.start("sh", {"-c", QString::fromUtf8(shellCommand(script))});
        QVERIFY(shell.waitForFinished());
        QCOMPARE(QString::fromUtf8(shell.readAll()), word);
    }
    void remoteNamesArePlain() {
        const QByteArray hash(64, 'f');
        QCOMPARE(
            remoteName("models", hash, "/x/my mod\u00e9l'$(x).bin"),
            QString("models/ffffffffffffffff/my_mod_l___x_.bin"));
    }

    void agentsAreKnownByProcessorNotByName() {
        QCOMPARE(agentArchitecture("armv7l"), QString("armhf"));
        QCOMPARE(agentArchitecture("aarch64"), QString("arm64"));
        QVERIFY(agentArchitecture("mips").isEmpty());
        const QString own = QCoreApplication::applicationFilePath();
        const QString machine = agentArchitecture(QSysInfo::currentCpuArchitecture());
        QVERIFY(checkAgentFile(own, machine).ok());
        QVERIFY(!checkAgentFile(own, "armhf").ok());
        QVERIFY(!checkAgentFile(write("no-elf", QByteArray(200, 'x')), machine).ok());
        qputenv("SHARDSCOPE_AGENTS", m_folder.path().toUtf8());
        QDir(m_folder.path()).mkpath("armhf");
        write("armhf/shardscope-agent", QByteArray(200, 'x'));
        const auto none = findAgentFor("armv7l");
        qunsetenv("SHARDSCOPE_AGENTS");
        if (!none)
            QVERIFY(none.error().mend.find("--preset armhf") != std::string::npos);
        QVERIFY(!findAgentFor("mips").ok());
    }
};

QTEST_GUILESS_MAIN(TestSshFiles)
#include "tst_ssh_files.moc"
