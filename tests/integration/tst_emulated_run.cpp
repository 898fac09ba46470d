// SPDX-License-Identifier: GPL-3.0-or-later
// The sample on emulated boards: in control groups where this system permits them, and with the
// engine's own limits; nothing stays behind.
#include <csignal>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "app/remote/emulate/cgroup_box.h"

using namespace shardscope;
using namespace shardscope::app;

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
const QString kText = QStringLiteral("you have eight new messages");
constexpr double kMiB = 1048576;

/// A board that is small and slow, but done within seconds.
QJsonObject smallBoard(double ramMiB, double readBytesPerSecond) {
    QFile file(QStringLiteral(RESOURCES_DIR "/boards/rpi5-8g-nvme.json"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no preset");
    QJsonObject board = QJsonDocument::fromJson(file.readAll()).object();
    board[QStringLiteral("name")] = QStringLiteral("small");
    board[QStringLiteral("ram_total_bytes")] = ramMiB * kMiB;
    board[QStringLiteral("ram_reserved_bytes")] = 0;
    board[QStringLiteral("read_bytes_per_s")] = readBytesPerSecond;
    board[QStringLiteral("cores")] = board[QStringLiteral("fast_cores")] = 1;
    board[QStringLiteral("thread_scaling")] = QJsonArray{QJsonObject{
        {QStringLiteral("threads"), 1},
        {QStringLiteral("compute_speed_up"), 1},
        {QStringLiteral("memory_bytes_per_s"), 9e9}}};
    return board;
}

QStringList groupsOfOurs() {
    QStringList all;
    for (const Controller controller :
         {Controller::Memory, Controller::Reads, Controller::Processor})
        for (const CgroupPlace& place : cgroupPlaces(controller))
            for (const QString& name :
                 QDir(place.folder).entryList({QStringLiteral("shardscope-*")}, QDir::Dirs))
                all.append(place.folder + QLatin1Char('/') + name);
    return all;
}

} // namespace

class TestEmulatedRun : public QObject {
    Q_OBJECT

    QTemporaryDir m_data;
    bool m_permitted = false;

    void prepare(QProcess& process, const QString& mode) const {
        QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
        all.insert(QStringLiteral("XDG_DATA_HOME"), m_data.path());
        all.insert(QStringLiteral("SHARDSCOPE_EMULATE"), mode);
        for (const char* display : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            all.remove(QLatin1String(display));
        process.setProcessEnvironment(all);
    }
    QString useBoard(double ramMiB, double readBytesPerSecond) {
        const QString path = m_data.filePath(QStringLiteral("small.json"));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write %s", qPrintable(path));
        file.write(QJsonDocument(smallBoard(ramMiB, readBytesPerSecond)).toJson());
        return QStringLiteral("emulated:") + path;
    }
    QStringList words(const QString& board, const QStringList& more) const {
        return QStringList{
                   QStringLiteral("run"),
                   QStringLiteral("--board"),
                   board,
                   QStringLiteral("--model"),
                   kModel,
                   QStringLiteral("--audio"),
                   kClip,
                   QStringLiteral("--json")} +
               more;
    }
    QJsonObject
    run(const QString& mode, const QString& board, const QStringList& more, QByteArray* err,
        int expected = 0) const {
        QProcess process;
        prepare(process, mode);
        process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words(board, more));
        if (!process.waitForFinished(280000))
            qFatal("shardscope does not end");
        *err = process.readAllStandardError();
        if (process.exitCode() != expected)
            QTest::qFail(err->constData(), __FILE__, __LINE__);
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }
    static QString by(const QJsonObject& result, const char* what) {
        return result[QStringLiteral("emulation")][QLatin1String(what)][QStringLiteral("by")]
            .toString();
    }

private slots:
    void initTestCase() {
        EmulationLimits limits;
        limits.memory = base::mebibytes(64);
        limits.readBytesPerSecond = 1e7;
        const auto box = CgroupBox::create(limits, kModel, false);
        m_permitted = !box->memoryBy().isEmpty();
    }

    void runsInControlGroups() {
        if (!m_permitted)
            QSKIP("this system permits no memory cgroup of our own");
        QByteArray err;
        const QJsonObject result =
            run(QString(), useBoard(96, 80e6),
                {QStringLiteral("--budget"), QStringLiteral("24MiB")}, &err);
        QCOMPARE(result[QStringLiteral("text")].toString().trimmed(), kText);
        QVERIFY2(err.startsWith("emulating small: "), err.constData());
        const QJsonObject memory =
            result[QStringLiteral("emulation")][QStringLiteral("memory")].toObject();
        QVERIFY(by(result, "memory").contains(QStringLiteral("cgroup v")));
        QCOMPARE(memory[QStringLiteral("limit_bytes")].toDouble(), 96 * kMiB);
        const double peak = memory[QStringLiteral("peak_bytes")].toDouble();
        QVERIFY2(peak > 20 * kMiB && peak <= 96 * kMiB, qPrintable(QString::number(peak / kMiB)));
        if (by(result, "reads").contains(QStringLiteral("cgroup v"))) {
            QVERIFY(result[QStringLiteral("config")][QStringLiteral("emulate_read")].isNull());
        }
        QCOMPARE(groupsOfOurs(), QStringList());
    }

    void runsWithTheEnginesOwnLimits() {
        QByteArray err;
        const QJsonObject result = run(QStringLiteral("soft"), useBoard(40, 120e6), {}, &err);
        QCOMPARE(result[QStringLiteral("text")].toString().trimmed(), kText);
        for (const char* what : {"memory", "reads"})
            QVERIFY2(by(result, what).contains(QStringLiteral("(soft)")), err.constData());
        QCOMPARE(
            result[QStringLiteral("memory")][QStringLiteral("budget_bytes")].toDouble(), 40 * kMiB);
        QCOMPARE(result[QStringLiteral("config")][QStringLiteral("threads")].toInt(), 1);
        QVERIFY(err.contains("soft"));
    }

    void aRunThatTheBoardCannotHoldIsKilledAndSaysWhy() {
        if (!m_permitted)
            QSKIP("this system permits no memory cgroup of our own");
        QByteArray err;
        run(QString(), useBoard(16, 80e6), {}, &err, 5);
        QVERIFY2(err.contains("the memory of the board was full"), err.constData());
        QCOMPARE(groupsOfOurs(), QStringList());
    }

    void whatAKilledDesktopLeavesIsSwept() {
        if (!m_permitted)
            QSKIP("this system permits no memory cgroup of our own");
        QProcess process;
        prepare(process, QString());
        process.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope"),
            words(
                useBoard(96, 80e6), {QStringLiteral("--budget"), QStringLiteral("24MiB"),
                                     QStringLiteral("--emulate-read"), QStringLiteral("1MB/s")}));
        QTRY_VERIFY_WITH_TIMEOUT(!groupsOfOurs().isEmpty(), 60000);
        process.kill();
        QVERIFY(process.waitForFinished(30000));
        QVERIFY(!groupsOfOurs().isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT((CgroupBox::sweep(), groupsOfOurs().isEmpty()), 30000);
    }

    void aKilledAgentLeavesNoGroups() {
        if (!m_permitted)
            QSKIP("this system permits no memory cgroup of our own");
        QProcess process;
        prepare(process, QString());
        process.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope"),
            words(
                useBoard(96, 80e6), {QStringLiteral("--budget"), QStringLiteral("24MiB"),
                                     QStringLiteral("--emulate-read"), QStringLiteral("1MB/s")}));
        pid_t agent = 0;
        QTRY_VERIFY_WITH_TIMEOUT((agent = memberOfOurs()) > 0, 60000);
        ::kill(agent, SIGKILL);
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitCode(), 5);
        QCOMPARE(groupsOfOurs(), QStringList());
    }

    void aBoardThatIsNotThereIsOneLine() {
        QByteArray err;
        run(QString(), QStringLiteral("emulated:pi9"), {}, &err, 2);
        QCOMPARE(err.count('\n'), 1);
        QVERIFY2(err.contains("pi9"), err.constData());
    }

private:
    /// The agent in a group; before it a child is moved in that only tries whether it can be.
    static pid_t memberOfOurs() {
        for (const QString& folder : groupsOfOurs()) {
            QFile procs(folder + QStringLiteral("/cgroup.procs"));
            if (!procs.open(QIODevice::ReadOnly))
                continue;
            const int pid = procs.readLine().trimmed().toInt();
            QFile name(QStringLiteral("/proc/%1/comm").arg(pid));
            if (pid > 1 && name.open(QIODevice::ReadOnly) &&
                name.readAll().startsWith("shardscope-agen"))
                return pid;
        }
        return 0;
    }
};

QTEST_GUILESS_MAIN(TestEmulatedRun)
#include "tst_emulated_run.moc"
