// SPDX-License-Identifier: GPL-3.0-or-later
// `shardscope run --board user@host:port` with a real sshd and the real agent.
#include <csignal>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QtTest>

#include "app/replay/run_content.h"
#include "tests/integration/ssh_server.h"

using namespace shardscope;
using testing::SshServer;

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
const QString kText = QStringLiteral("you have eight new messages");

} // namespace

class TestSshRun : public QObject {
    Q_OBJECT

    std::unique_ptr<SshServer> m_server;

    void call(QProcess& process, const QStringList& words) const {
        QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
            all.insert(QLatin1String(name), m_server->path("desk"));
        all.insert("SSH_AUTH_SOCK", "");
        process.setProcessEnvironment(all);
        process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words);
    }
    /// Runs it to its end; what it printed.
    QByteArray output(const QStringList& words, int status = 0) const {
        QProcess process;
        call(process, words);
        if (!process.waitForFinished(120000) || process.exitCode() != status)
            QTest::qFail(
                process.readAllStandardError() + " " + process.readAllStandardOutput(), __FILE__,
                __LINE__);
        return process.readAllStandardOutput();
    }
    void begin(QProcess& process, const QStringList& more, bool accept = true) const {
        QStringList words{"run",        "--board",           m_server->address(),
                          "--identity", m_server->userKey(), "--model",
                          kModel,       "--audio",           kClip};
        if (accept)
            words.append("--accept-new-host");
        call(process, words + more);
    }
    QJsonObject lastRun() const {
        return QJsonDocument::fromJson(output({"runs", "list", "--json"})).array()[0].toObject();
    }
    /// A run that takes minutes, once its recording grows.
    void beginSlowRun(QProcess& process) const {
        begin(process, {"--budget", "18MiB", "--emulate-read", "1MB/s"});
        QTRY_VERIFY_WITH_TIMEOUT(recorded() > 30000, 60000);
    }
    qint64 recorded() const {
        qint64 bytes = 0;
        for (const QFileInfo& file :
             QDir(m_server->path("desk/shardscope/runs")).entryInfoList(QDir::Files))
            bytes += file.size();
        return bytes;
    }
    pid_t agent() const { return testing::processBelow(m_server->processId(), " serve"); }

private slots:
    void initTestCase() {
        if (SshServer::program().isEmpty())
            QSKIP("sshd is not installed");
    }
    void init() {
        m_server = std::make_unique<SshServer>();
        QVERIFY2(m_server->start(), m_server->said().constData());
    }
    void cleanup() { m_server.reset(); }

    void anUnknownHostIsStatusSixWithItsFingerprint() {
        QProcess process;
        begin(process, {}, false);
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitCode(), 6);
        const QByteArray line = process.readAllStandardError();
        QCOMPARE(line.count('\n'), 1);
        QVERIFY2(line.contains("SHA256:"), line.constData());
    }
    void aRunOnABoardIsKeptAndTheHostRemembered() {
        QProcess first;
        begin(first, {"--json"});
        QVERIFY(first.waitForFinished(120000));
        QVERIFY2(first.exitCode() == 0, first.readAllStandardError().constData());
        QCOMPARE(
            QJsonDocument::fromJson(first.readAllStandardOutput())["text"].toString().trimmed(),
            kText);
        const QJsonObject run = lastRun();
        QCOMPARE(run["state"].toString(), QString("done"));
        QCOMPARE(run["board"].toString(), m_server->address());
        QProcess second;
        begin(second, {}, false);
        QVERIFY(second.waitForFinished(120000));
        QVERIFY2(second.exitCode() == 0, second.readAllStandardError().constData());
        QTRY_COMPARE(agent(), 0);
    }
    void whatDoesNotFitThereIsStatusThree() {
        QProcess process;
        begin(process, {"--budget", "2MiB"});
        QVERIFY(process.waitForFinished(120000));
        QCOMPARE(process.exitCode(), 3);
    }
    void aRunThatIsStoppedLeavesNothingRunning() {
        QProcess process;
        beginSlowRun(process);
        QVERIFY(agent() != 0);
        QCOMPARE(m_server->processesOf(" spool ").size(), 1);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitCode(), 5);
        QCOMPARE(lastRun()["state"].toString(), QString("stopped"));
        QTRY_COMPARE_WITH_TIMEOUT(agent(), 0, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(m_server->processesOf(" spool ").isEmpty(), 20000);
        QVERIFY(QDir(m_server->path("board/shardscope/runs")).isEmpty());
    }
    void aRunThatIsKilledThereIsPartial() {
        QProcess process;
        beginSlowRun(process);
        for (const pid_t pid : m_server->processesOf(" spool "))
            ::kill(pid, SIGKILL);
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitCode(), 5);
        const QByteArray line = process.readAllStandardError();
        QVERIFY2(line.contains("killed"), line.constData());
        QVERIFY(lastRun()["state"].toString() != "done");
    }
    void cutsOfTheConnectionLoseNothing() {
        QProcess process;
        begin(process, {"--pin", "none", "--emulate-read", "10MB/s", "--json"});
        QTRY_VERIFY_WITH_TIMEOUT(recorded() > 0, 60000);
        QRandomGenerator random(11);
        int cuts = 0;
        while (cuts < 50 && !process.waitForFinished(random.bounded(20, 400))) {
            m_server->cutSessions();
            ++cuts;
        }
        QVERIFY(process.state() == QProcess::NotRunning || process.waitForFinished(120000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
        qInfo("%d cuts", cuts);
        QVERIFY(cuts > 10);
        const QJsonObject run = lastRun();
        QCOMPARE(run["state"].toString(), QString("done"));
        const auto content = app::readRunFile(run["recording"].toString().toStdString());
        QVERIFY(content.ok());
        QCOMPARE(QString::fromStdString(content->text()).trimmed(), kText);
        QVERIFY(content->trace().complete);
        QCOMPARE(content->trace().dropped, std::uint64_t{0});
    }

    void aRunWhoseDesktopWasKilledIsFetchedLater() {
        QProcess process;
        begin(process, {"--pin", "none", "--emulate-read", "20MB/s"});
        QTRY_VERIFY_WITH_TIMEOUT(recorded() > 0, 60000);
        process.kill();
        QVERIFY(process.waitForFinished());
        QTRY_VERIFY_WITH_TIMEOUT(m_server->processesOf(" spool ").isEmpty(), 60000);
        const QStringList fetch{
            "boards", "fetch", m_server->address(), "--identity", m_server->userKey()};
        const QByteArray told = output(fetch);
        QVERIFY2(told.contains(kText.toUtf8()), told.constData());
        const QJsonObject run = lastRun();
        QCOMPARE(run["state"].toString(), QString("done"));
        QCOMPARE(run["text"].toString().trimmed(), kText);
        QCOMPARE(run["board"].toString(), m_server->address());
        QVERIFY(QDir(m_server->path("board/shardscope/runs")).isEmpty());
        QVERIFY(output(fetch).contains("No run waits"));
    }
    void nobodyWithAnotherKeyIsGoneBackTo() {
        QProcess process;
        beginSlowRun(process);
        m_server->stop();
        for (const char* half : {"host_ed25519", "host_ed25519.pub"})
            QVERIFY(QFile::remove(m_server->path(half)));
        QVERIFY2(m_server->start(), m_server->said().constData());
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitCode(), 6);
        const QByteArray line = process.readAllStandardError();
        QVERIFY2(line.contains("CHANGED"), line.constData());
        for (const pid_t left : m_server->processesOf(" spool "))
            ::kill(left, SIGKILL);
    }

    void aBoardIsAddedTestedAndUsedByItsName() {
        const QByteArray steps = output(
            {"boards", "add", "bench", m_server->address(), "--identity", m_server->userKey(),
             "--accept-new-host"});
        for (const char* step :
             {"Connect", "Host key", "Log in", "System", "Folder", "Free space", "Agent",
              "Handshake", "Doctor"})
            QVERIFY2(steps.contains(step), steps.constData());
        QVERIFY(output({"boards", "list"}).contains(m_server->address().toUtf8()));
        const auto tested = QJsonDocument::fromJson(output({"boards", "test", "bench", "--json"}));
        QVERIFY(tested["ready"].toBool());
        QCOMPARE(tested["steps"].toArray().size(), 9);
        const auto found = QJsonDocument::fromJson(output({"boards", "doctor", "bench", "--json"}));
        QVERIFY(!found["findings"].toArray().isEmpty());
        QProcess unmeasured;
        call(unmeasured, {"plan", "--board", "bench", "--model", kModel});
        QVERIFY(unmeasured.waitForFinished(60000));
        QCOMPARE(unmeasured.exitCode(), 2);
        QVERIFY(unmeasured.readAllStandardError().contains("boards probe bench"));
        output({"run", "--board", "bench", "--model", kModel, "--audio", kClip});
        QCOMPARE(lastRun()["board"].toString(), QString("bench"));
        output({"boards", "remove", "bench"});
        QVERIFY(!output({"boards", "list"}).contains("bench"));
        output({"run", "--board", "bench", "--model", kModel, "--audio", kClip}, 2);
    }
    void aTestStopsAtTheStepThatFails() {
        const QByteArray steps = output({"boards", "test", m_server->address()}, 6);
        QVERIFY2(steps.contains("FAILED   Host key"), steps.constData());
        QVERIFY2(steps.contains("SHA256:"), steps.constData());
        QVERIFY(!steps.contains("Log in"));
    }
};

QTEST_GUILESS_MAIN(TestSshRun)
#include "tst_ssh_run.moc"
