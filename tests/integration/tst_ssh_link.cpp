// SPDX-License-Identifier: GPL-3.0-or-later
// Trust, login and commands against a real sshd.
#include <csignal>
#include <thread>

#include <QProcess>
#include <QtTest>

#include "app/remote/ssh/known_hosts.h"
#include "app/remote/ssh/private_key.h"
#include "app/remote/ssh/ssh_channel.h"
#include "app/remote/ssh/ssh_connect.h"
#include "app/remote/ssh/ssh_stream.h"
#include "tests/integration/scripted_questions.h"
#include "tests/integration/ssh_server.h"

using namespace shardscope;
using namespace app;
using namespace std::chrono_literals;
using base::ErrorCode;
using testing::ScriptedQuestions;
using testing::SshServer;

class TestSshLink : public QObject {
    Q_OBJECT

    std::unique_ptr<SshServer> m_server;
    ScriptedQuestions m_questions;
    std::shared_ptr<Wake> m_wake;
    SshOptions m_options;

    void start() {
        QVERIFY2(m_server->start(), m_server->said().constData());
        m_options = m_server->options();
        m_options.acceptNewHost = true;
    }
    base::Result<std::unique_ptr<SshLink>> link() {
        auto route = resolveRoute(m_server->target(), m_options);
        if (!route)
            return route.error();
        return testing::connectBoard(*route, m_options, m_questions, m_wake);
    }
    /// The error of a connection that must fail.
    base::Error refusal() {
        auto made = link();
        return made ? base::Error{ErrorCode::Usage, "it was let in", "", ""} : made.error();
    }
    void write(const QString& name, const QByteArray& text) {
        QFile file(m_server->path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    QByteArray hostName() const { return "[127.0.0.1]:" + QByteArray::number(m_server->port()); }
    HostKey hostKey() const {
        return {QByteArray::fromBase64(m_server->hostPublicKey().split(' ').last())};
    }
    QByteArray otherKey() {
        m_server->makeKey(QStringLiteral("other"));
        QFile file(m_server->path(QStringLiteral("other.pub")));
        return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray();
    }

private slots:
    void initTestCase() {
        if (SshServer::program().isEmpty())
            QSKIP("sshd is not installed");
    }
    void init() {
        m_server = std::make_unique<SshServer>();
        m_questions = {};
        m_wake = std::make_shared<Wake>();
    }
    void cleanup() { m_server.reset(); }

    void anUnknownHostIsShownAndNotEntered() {
        start();
        m_options.acceptNewHost = false;
        m_questions.isThere = false;
        const base::Error error = refusal();
        QCOMPARE(error.code, ErrorCode::Connection);
        QVERIFY2(
            error.line().find(hostKey().fingerprint().toStdString()) != std::string::npos,
            error.line().c_str());
        QVERIFY(!QFile::exists(m_options.ownHosts));
    }
    void aNewHostIsRememberedInOurOwnFile() {
        start();
        QVERIFY(link().ok());
        m_options.acceptNewHost = false;
        m_questions.isThere = false;
        QVERIFY(link().ok());
        QFile file(m_options.ownHosts);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), hostName() + ' ' + m_server->hostPublicKey() + '\n');
        QVERIFY(QDir(m_options.sshFolder).isEmpty());
    }
    void aPersonMayAcceptANewHost() {
        start();
        m_options.acceptNewHost = false;
        m_questions.answers = {QStringList()};
        QVERIFY(link().ok());
        QCOMPARE(m_questions.asked.size(), 1);
        QCOMPARE(m_questions.asked[0].fingerprint, hostKey().fingerprint());
    }
    void aChangedKeyBlocksAndShowsBoth() {
        start();
        const QByteArray other = otherKey();
        write("ssh/known_hosts", hostName() + ' ' + other + '\n');
        const base::Error error = refusal();
        QCOMPARE(error.code, ErrorCode::Connection);
        const HostKey known{QByteArray::fromBase64(other.split(' ')[1])};
        for (const QString& print : {hostKey().fingerprint(), known.fingerprint()})
            QVERIFY2(
                error.line().find(print.toStdString()) != std::string::npos, error.line().c_str());
        QVERIFY(m_questions.asked.isEmpty());
    }
    void aRevokedKeyIsRefused() {
        start();
        write("ssh/known_hosts", "@revoked * " + m_server->hostPublicKey() + '\n');
        QVERIFY(link().error().what.find("revoked") != std::string::npos);
    }
    void aHashedEntryOfAnotherHostIsNotTakenForThisOne() {
        start();
        write(
            "ssh/known_hosts", "example.org " + otherKey() + '\n' + hostName() + ' ' +
                                   m_server->hostPublicKey() + '\n');
        QCOMPARE(
            QProcess::execute("ssh-keygen", {"-q", "-H", "-f", m_server->path("ssh/known_hosts")}),
            0);
        m_options.acceptNewHost = false;
        QVERIFY(link().ok());
        QVERIFY(m_questions.asked.isEmpty());
    }
    void theTypeOfKeyThatIsKnownIsAskedFor() {
        m_server->makeKey("host_ecdsa", "ecdsa");
        m_server->add("HostKey " + m_server->path("host_ecdsa"));
        start();
        QFile ecdsa(m_server->path("host_ecdsa.pub"));
        QVERIFY(ecdsa.open(QIODevice::ReadOnly));
        write("ssh/known_hosts", hostName() + ' ' + ecdsa.readAll());
        m_options.acceptNewHost = false;
        auto made = link();
        QVERIFY2(made.ok(), made ? "" : made.error().line().c_str());
        QCOMPARE((*made)->hostKey().typeName(), QString("ecdsa"));
    }
    void aHostWithAnRsaKeyAloneIsToldHowToMakeAnother() {
        if (SshLink::knowsModernRsa())
            QSKIP("this libssh2 knows rsa-sha2");
        m_server->useHostKey("rsa");
        start();
        QVERIFY2(
            refusal().mend.find("ssh-keygen -t ed25519") != std::string::npos,
            refusal().line().c_str());
    }

    void aWrongKeyIsToldWithWhatWasTried() {
        start();
        m_options.identity = m_server->makeKey("stranger");
        m_questions.isThere = false;
        const base::Error error = refusal();
        QCOMPARE(error.code, ErrorCode::Connection);
        QVERIFY2(error.what.find("/stranger") != std::string::npos, error.line().c_str());
        QVERIFY2(error.what.find("publickey") != std::string::npos, error.line().c_str());
    }
    void aKeyFileThatIsMissingIsABadInput() {
        start();
        m_options.identity = m_server->path("missing");
        QCOMPARE(refusal().code, ErrorCode::BadInput);
    }
    void aPassphraseIsAskedForUntilItFits() {
        start();
        m_options.identity = m_server->makeKey("locked", "ed25519", "right");
        m_server->allow("locked");
        m_questions.answers = {{"wrong"}, {"right"}};
        auto made = link();
        QVERIFY2(made.ok(), made ? "" : made.error().line().c_str());
        QCOMPARE(m_questions.asked.size(), 2);
        QCOMPARE(m_questions.asked[0].kind, SshQuestion::Kind::Passphrase);
        QVERIFY(!m_questions.asked[0].prompts[0].shown);
    }
    void aLockedKeyWithNobodyToAskIsTold() {
        start();
        m_options.identity = m_server->makeKey("locked", "ed25519", "right");
        m_questions.isThere = false;
        QVERIFY2(refusal().mend.find("ssh-add") != std::string::npos, refusal().line().c_str());
    }
    void anRsaKeyIsToldToBeReplaced() {
        if (SshLink::knowsModernRsa())
            QSKIP("this libssh2 knows rsa-sha2");
        start();
        m_options.identity = m_server->makeKey("old", "rsa");
        m_server->allow("old");
        QVERIFY2(
            refusal().mend.find("ssh-keygen -t ed25519") != std::string::npos,
            refusal().line().c_str());
    }
    void theAgentOpensWhatItHolds() {
        start();
        m_options.identity.clear();
        m_options.agentSocket = m_server->path("agent");
        QProcess agent;
        agent.start("ssh-agent", {"-D", "-a", m_options.agentSocket});
        QTRY_VERIFY(QFile::exists(m_options.agentSocket));
        QProcess add;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("SSH_AUTH_SOCK", m_options.agentSocket);
        add.setProcessEnvironment(environment);
        add.start("ssh-add", {"-q", m_server->userKey()});
        QVERIFY(add.waitForFinished() && add.exitCode() == 0);
        auto made = link();
        QVERIFY2(made.ok(), made ? "" : made.error().line().c_str());
        agent.kill();
        agent.waitForFinished();
    }
    void anAgentThatHangsIsLeftAlone() {
        start();
        m_options.agentSocket = m_server->path("agent");
        QProcess agent;
        agent.start("ssh-agent", {"-D", "-a", m_options.agentSocket});
        QTRY_VERIFY(QFile::exists(m_options.agentSocket));
        ::kill(static_cast<pid_t>(agent.processId()), SIGSTOP);
        QVERIFY(link().ok()); // by its key file
        ::kill(static_cast<pid_t>(agent.processId()), SIGKILL);
        agent.waitForFinished();
    }
    void questionsOfTheServerAreAnsweredRoundByRound_data() {
        QTest::addColumn<QString>("mode");
        QTest::addColumn<QList<QStringList>>("answers");
        QTest::addColumn<bool>("letsIn");
        const QStringList code{"1234", QString::fromUtf8("s\u00e9same")}, owl{"owl"};
        QTest::newRow("interactive") << "interactive" << QList<QStringList>{code, owl} << true;
        QTest::newRow("second try")
            << "interactive" << QList<QStringList>{{"0", "x"}, code, owl} << true;
        QTest::newRow("given up") << "interactive" << QList<QStringList>{code} << false;
        QTest::newRow("password") << "password" << QList<QStringList>{{"open"}} << true;
        QTest::newRow("second password")
            << "password" << QList<QStringList>{{"shut"}, {"open"}} << true;
        QTest::newRow("wrong passwords")
            << "password" << QList<QStringList>{{"a"}, {"b"}, {"c"}} << false;
    }
    void questionsOfTheServerAreAnsweredRoundByRound() {
        QFETCH(QString, mode);
        QFETCH(QList<QStringList>, answers);
        QFETCH(bool, letsIn);
        const QString program = QStringLiteral(TESTS_DIR "/asking_server");
        if (!QFile::exists(program))
            QSKIP("libssh was not there to build the server");
        start(); // for its port and keys
        m_server->stop();
        QProcess server;
        server.start(
            program, {m_server->path("host_ed25519"), QString::number(m_server->port()), mode});
        QVERIFY(server.waitForReadyRead());
        m_options.identity.clear();
        m_questions.answers = answers;
        auto made = link();
        if (letsIn)
            QVERIFY2(made.ok(), made ? "" : made.error().line().c_str());
        else
            QVERIFY(!made.ok());
        QVERIFY(m_questions.answers.isEmpty());
        if (mode == "interactive") {
            QCOMPARE(m_questions.asked[0].detail, QString("Gate Two questions first."));
            QCOMPARE(m_questions.asked[0].prompts.size(), 2);
            QVERIFY(m_questions.asked[0].prompts[0].shown);
            QVERIFY(!m_questions.asked[0].prompts[1].shown);
        }
        if (made)
            *made = nullptr;
        server.kill();
        server.waitForFinished();
    }

    void nobodyAtThePortIsTold() {
        start();
        m_server->stop();
        const base::Error error = refusal();
        QCOMPARE(error.code, ErrorCode::Connection);
        QVERIFY2(error.what.find("refused") != std::string::npos, error.line().c_str());
    }
    void aHostWithoutAnAddressIsTold() {
        start();
        auto route = resolveRoute({"u", "no-such-host.invalid", 22}, m_options);
        m_options.connecting = 3s;
        QCOMPARE(
            testing::connectBoard(*route, m_options, m_questions, m_wake).error().code,
            ErrorCode::Connection);
    }
    void aServerThatIsSilentIsGivenUp() {
        start();
        ::kill(m_server->processId(), SIGSTOP); // the kernel still takes connections for it
        m_options.connecting = 300ms;
        const base::Error error = refusal();
        ::kill(m_server->processId(), SIGCONT);
        QVERIFY2(error.what.find("in time") != std::string::npos, error.line().c_str());
    }
    void cancellingEndsEveryWait() {
        start();
        auto made = link();
        QVERIFY(made.ok());
        std::jthread canceller([wake = m_wake] {
            std::this_thread::sleep_for(200ms);
            wake->cancel();
        });
        QElapsedTimer clock;
        clock.start();
        auto output = runCommand(**made, "sleep 60", Deadline(60s));
        canceller.join();
        QVERIFY(!output.ok());
        QVERIFY(clock.elapsed() < 30000); // not the minute of the command
    }

    void commandsTellHowTheyEnded() {
        start();
        auto made = link();
        QVERIFY(made.ok());
        auto output =
            runCommand(**made, shellCommand("echo out; echo err >&2; exit 7"), Deadline(10s));
        QVERIFY(output.ok());
        QCOMPARE(output->output, QByteArray("out\n"));
        QCOMPARE(output->lastError(), std::string("err"));
        QCOMPARE(output->end.status, 7);
        auto killed = runCommand(**made, shellCommand("kill -9 $$"), Deadline(10s));
        QVERIFY(killed.ok());
        QCOMPARE(killed->end.signal, QByteArray("KILL"));
    }
    void aFloodOfErrorsDoesNotStandInTheWay() {
        start();
        auto made = link();
        QVERIFY(made.ok());
        auto output = runCommand(
            **made, shellCommand("head -c 30000000 /dev/zero >&2; echo done"), Deadline(60s));
        QVERIFY(output.ok());
        QCOMPARE(output->output, QByteArray("done\n"));
        QVERIFY(output->errors.size() <= 4 << 20);
    }
    void aHalfOpenLinkIsGivenUp() {
        start();
        m_options.keepAlive = 1s; // the library sends none more often than each second or two
        m_options.silence = 5s;
        auto made = link();
        QVERIFY(made.ok());
        for (const pid_t session : m_server->sessions())
            for (const pid_t pid : testing::processTree(session))
                ::kill(pid, SIGSTOP);
        auto output = runCommand(**made, "sleep 60", Deadline(60s));
        QVERIFY(!output.ok());
        QVERIFY2(
            output.error().what.find("heard") != std::string::npos, output.error().what.c_str());
    }
    void aQuietCommandIsNotTakenForAHalfOpenLink() {
        start();
        m_options.keepAlive = 1s; // the library sends none more often than each second or two
        m_options.silence = 5s;
        auto made = link();
        QVERIFY(made.ok());
        auto output = runCommand(**made, "sleep 8; echo woke", Deadline(60s));
        QVERIFY2(output.ok(), output ? "" : output.error().line().c_str());
        QCOMPARE(output->output, QByteArray("woke\n"));
    }
    void aServerThatIsKilledEndsTheCommand() {
        start();
        auto made = link();
        QVERIFY(made.ok());
        std::jthread killer([this] {
            std::this_thread::sleep_for(200ms);
            m_server->cutSessions();
        });
        auto output = runCommand(**made, "sleep 60", Deadline(60s));
        killer.join();
        QVERIFY(!output.ok());
        QCOMPARE(output.error().code, ErrorCode::Connection);
        QVERIFY2(
            output.error().what.find("lost") != std::string::npos, output.error().what.c_str());
    }

    void aSlowReaderHoldsTheBoardBack() {
        start();
        auto made = link();
        QVERIFY(made.ok());
        constexpr qsizetype kAll = 30'000'000;
        auto channel = SshChannel::start(
            **made, "head -c " + QByteArray::number(kAll) + " /dev/zero", Deadline(10s));
        QVERIFY(channel.ok());
        std::atomic<int> arrivals{0};
        SshStream stream(*m_wake, [&] { ++arrivals; });
        std::optional<base::Result<CommandEnd>> end;
        std::jthread worker([&] { end = (*channel)->pump(stream, Deadline(60s)); });
        QTRY_VERIFY(arrivals > 0);
        QTest::qWait(500); // the board could send all of it meanwhile
        qsizetype taken = stream.fetch().size();
        QVERIFY2(taken <= 5 << 20, QByteArray::number(taken).constData());
        stream.endSending();
        while (taken < kAll) {
            const qsizetype n = stream.fetch().size();
            taken += n;
            if (n == 0)
                std::this_thread::sleep_for(1ms);
        }
        worker.join();
        QCOMPARE(taken, kAll);
        QVERIFY(end->ok());
        QCOMPARE((*end)->status, 0);
    }
    void largeStreamsBothWaysArriveWhole() {
        start();
        auto made = link();
        QVERIFY(made.ok());
        auto channel = SshChannel::start(**made, "exec cat", Deadline(10s));
        QVERIFY(channel.ok());
        SshStream stream(*m_wake, [] {});
        std::optional<base::Result<CommandEnd>> end;
        std::jthread worker([&] { end = (*channel)->pump(stream, Deadline(60s)); });
        QByteArray sent, taken;
        for (int i = 0; i < 200; ++i) {
            const QByteArray piece(100'000, static_cast<char>('a' + i % 26));
            sent += piece;
            stream.send(piece);
            taken += stream.fetch();
        }
        stream.endSending();
        QElapsedTimer clock;
        clock.start();
        while (taken.size() < sent.size() && clock.elapsed() < 60000)
            taken += stream.fetch();
        worker.join();
        QVERIFY(taken == sent);
        QVERIFY2(end->ok(), end->ok() ? "" : end->error().line().c_str());
    }
};

QTEST_GUILESS_MAIN(TestSshLink)
#include "tst_ssh_link.moc"
