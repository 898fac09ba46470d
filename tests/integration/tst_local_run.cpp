// SPDX-License-Identifier: GPL-3.0-or-later
// The desktop's command line with the real agent: run, keep, predict.
#include <csignal>

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
const QString kText = QStringLiteral("you have eight new messages");

} // namespace

class TestLocalRun : public QObject {
    Q_OBJECT

    QTemporaryDir m_data;

    QProcessEnvironment environment() const {
        QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
        all.insert(QStringLiteral("XDG_DATA_HOME"), m_data.path());
        for (const char* display : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            all.remove(QLatin1String(display));
        return all;
    }
    QByteArray call(const QStringList& words, int expected = 0) const {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words);
        if (!process.waitForFinished(240000) || process.exitCode() != expected) {
            QTest::qFail(process.readAllStandardError().constData(), __FILE__, __LINE__);
            return {};
        }
        return process.readAllStandardOutput();
    }
    QJsonObject lastRun() const {
        return QJsonDocument::fromJson(
                   call({QStringLiteral("runs"), QStringLiteral("list"), QStringLiteral("--json")}))
            .array()
            .first()
            .toObject();
    }
    /// Starts a run that takes minutes, and waits until its recording grows.
    void beginSlowRun(QProcess& process) const {
        const QDir runs(m_data.filePath(QStringLiteral("shardscope/runs")));
        const QStringList before = runs.entryList(QDir::Files);
        process.setProcessEnvironment(environment());
        process.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope"),
            {QStringLiteral("run"), QStringLiteral("--board"), QStringLiteral("local"),
             QStringLiteral("--model"), kModel, QStringLiteral("--audio"), kClip,
             QStringLiteral("--budget"), QStringLiteral("18MiB"), QStringLiteral("--emulate-read"),
             QStringLiteral("1MB/s")});
        QTRY_VERIFY_WITH_TIMEOUT(grown(runs, before), 60000);
    }
    static bool grown(const QDir& runs, const QStringList& before) {
        runs.refresh();
        for (const QFileInfo& file : runs.entryInfoList(QDir::Files))
            if (!before.contains(file.fileName()) && file.size() > 30000)
                return true;
        return false;
    }
    static pid_t childOf(qint64 process) {
        QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(process));
        return children.open(QIODevice::ReadOnly)
                   ? static_cast<pid_t>(children.readAll().split(' ').first().toInt())
                   : 0;
    }
    static bool isZombie(pid_t process) {
        QFile state(QStringLiteral("/proc/%1/stat").arg(process));
        return !state.open(QIODevice::ReadOnly) || state.readAll().contains(") Z");
    }

private slots:
    void runAndSimulateSpeakAlike() {
        const QStringList knobs{QStringLiteral("--model"),   kModel,
                                QStringLiteral("--board"),   QStringLiteral("local"),
                                QStringLiteral("--budget"),  QStringLiteral("20MiB"),
                                QStringLiteral("--threads"), QStringLiteral("2"),
                                QStringLiteral("--json")};
        const auto run = QJsonDocument::fromJson(
            call(QStringList{QStringLiteral("run"), QStringLiteral("--audio"), kClip} + knobs));
        QCOMPARE(run[QStringLiteral("text")].toString().trimmed(), kText);
        const auto simulated =
            QJsonDocument::fromJson(call(QStringList{QStringLiteral("simulate")} + knobs));
        for (const char* group : {"timing", "memory", "io", "plan", "config"})
            QCOMPARE(
                simulated[QLatin1String(group)].toObject().keys(),
                run[QLatin1String(group)].toObject().keys());
        QCOMPARE(simulated[QStringLiteral("plan")], run[QStringLiteral("plan")]);
        QCOMPARE(
            simulated[QStringLiteral("memory")][QStringLiteral("arena_peak_bytes")],
            run[QStringLiteral("memory")][QStringLiteral("arena_peak_bytes")]);
        const auto runs = QJsonDocument::fromJson(
            call({QStringLiteral("runs"), QStringLiteral("list"), QStringLiteral("--json")}));
        QCOMPARE(runs.array().size(), 1);
        QCOMPARE(runs[0][QStringLiteral("state")].toString(), QStringLiteral("done"));
        QCOMPARE(runs[0][QStringLiteral("board")].toString(), QStringLiteral("local"));
    }

    void theDemoPrintsTranscriptFiguresAndPrediction() {
        const QByteArray out = call({QStringLiteral("--demo")});
        QVERIFY(out.contains(kText.toUtf8()));
        QVERIFY(out.contains("predicted"));
        QVERIFY(out.contains("decode a token"));
    }

    void anInterruptedRunIsKeptAsStopped() {
        QProcess process;
        beginSlowRun(process);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 5);
        QCOMPARE(lastRun()[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
    }

    void anAgentThatIsKilledLeavesAPartialRunAndOneLine() {
        QProcess process;
        beginSlowRun(process);
        ::kill(childOf(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitCode(), 5);
        const QByteArray line = process.readAllStandardError();
        QCOMPARE(line.count('\n'), 1);
        QVERIFY2(line.contains("signal 9"), line.constData());
        QCOMPARE(lastRun()[QStringLiteral("state")].toString(), QStringLiteral("partial"));
    }

    void aDesktopThatIsKilledLeavesAPartialRunAndNoAgent() {
        QProcess process;
        beginSlowRun(process);
        const pid_t agent = childOf(process.processId());
        process.kill();
        QVERIFY(process.waitForFinished(30000));
        QTRY_VERIFY_WITH_TIMEOUT(::kill(agent, 0) != 0 || isZombie(agent), 20000);
        const QJsonObject run = lastRun();
        QCOMPARE(run[QStringLiteral("state")].toString(), QStringLiteral("partial"));
        QVERIFY(QFileInfo(run[QStringLiteral("recording")].toString()).size() > 0);
    }

    void whatDoesNotFitIsStatusThree() {
        call(
            {QStringLiteral("run"), QStringLiteral("--board"), QStringLiteral("local"),
             QStringLiteral("--model"), kModel, QStringLiteral("--audio"), kClip,
             QStringLiteral("--budget"), QStringLiteral("2MiB")},
            3);
    }

    void aForeignModelIsStatusFour() {
        call(
            {QStringLiteral("run"), QStringLiteral("--board"), QStringLiteral("local"),
             QStringLiteral("--model"), kClip, QStringLiteral("--audio"), kClip},
            4);
    }
};

QTEST_GUILESS_MAIN(TestLocalRun)
#include "tst_local_run.moc"
