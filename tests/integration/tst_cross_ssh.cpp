// SPDX-License-Identifier: GPL-3.0-or-later
// Boards of other processors over SSH: the right agent is put there, and a run on it says what a
// run here says. The board is a real sshd whose commands find another `uname`, and whose agent runs
// under user-mode emulation.
#include <QtTest>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>

#include "tests/integration/ssh_server.h"

using shardscope::testing::SshServer;

namespace {

const QString kFiles = QStringLiteral(RESOURCES_DIR);
const QStringList kRun{"--model",     kFiles + "/models/sample-whisper-commands.en.bin",
                       "--audio",     kFiles + "/clips/syn-000.wav",
                       "--audio-ctx", "300",
                       "--threads",   "2"};

bool writeProgram(const QString& path, const QByteArray& text) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size() &&
           file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

} // namespace

class TestCrossSsh : public QObject {
    Q_OBJECT

    /// What sshd runs for every command: all as it is, but for the agent and `uname`.
    static bool imitate(SshServer& server, const QString& machine, const QString& emulator) {
        const QString shell = server.path("shell"), tools = server.path("tools");
        const QByteArray uname = QStringLiteral("#!/bin/sh\n"
                                                "[ \"$1\" = -m ] && exec echo %1\n"
                                                "exec /bin/uname \"$@\"\n")
                                     .arg(machine)
                                     .toUtf8();
        const QByteArray command =
            QStringLiteral("#!/bin/sh\n"
                           "case $SSH_ORIGINAL_COMMAND in\n"
                           "*sftp*) exec /usr/lib/openssh/sftp-server ;;\n"
                           "\"exec '\"*/agents/*) exec sh -c \"exec %1 ${SSH_ORIGINAL_COMMAND#exec }\" ;;\n"
                           "*) PATH=%2:$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\" ;;\n"
                           "esac\n")
                .arg(emulator, tools)
                .toUtf8();
        server.add("ForceCommand " + shell);
        return QDir().mkpath(tools) && writeProgram(tools + "/uname", uname) &&
               writeProgram(shell, command);
    }

private slots:
    void theRunSaysWhatARunHereSays_data() {
        QTest::addColumn<QString>("architecture");
        QTest::addColumn<QString>("machine");
        QTest::addColumn<QString>("emulator");
        QTest::newRow("armhf") << "armhf"
                               << "armv7l"
                               << "qemu-arm-static";
        QTest::newRow("arm64") << "arm64"
                               << "aarch64"
                               << "qemu-aarch64-static";
    }
    void theRunSaysWhatARunHereSays() {
        QFETCH(const QString, architecture);
        QFETCH(const QString, machine);
        QFETCH(const QString, emulator);
        const QString built =
            QStringLiteral(PROGRAMS_DIR "/../cross/%1/stripped").arg(architecture);
        if (SshServer::program().isEmpty() || !QFileInfo::exists(built))
            QSKIP("sshd is not installed, or tst_cross_agents has not built the agents");
        SshServer server;
        QVERIFY(imitate(server, machine, emulator));
        QVERIFY2(server.start(), server.said().constData());
        QVERIFY(QDir().mkpath(server.path("agents/" + architecture)));
        QVERIFY(QFile::copy(built, server.path("agents/" + architecture + "/shardscope-agent")));

        QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
            all.insert(QLatin1String(name), server.path("desk"));
        all.insert("SHARDSCOPE_AGENTS", server.path("agents"));
        const auto output = [&](const QStringList& words) {
            QProcess process;
            process.setProcessEnvironment(all);
            process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words);
            if (!process.waitForFinished(600000) || process.exitCode() != 0)
                QTest::qFail(process.readAllStandardError().constData(), __FILE__, __LINE__);
            return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
        };
        const QString folder = server.path("cache");
        const QJsonObject there = output(
            QStringList{"run", "--board", server.address(), "--identity", server.userKey(),
                        "--accept-new-host", "--folder", folder, "--json"} +
            kRun);
        const QJsonObject here = output(QStringList{"run", "--json"} + kRun);
        QVERIFY(!here["text"].toString().isEmpty());
        QCOMPARE(there["text"].toString(), here["text"].toString());
        QCOMPARE(there["plan"]["shards"], here["plan"]["shards"]);

        // That very agent is what was put there.
        const QStringList agents = QDir(folder + "/agents").entryList(QDir::Files);
        QCOMPARE(agents.size(), 1);
        QFile put(folder + "/agents/" + agents.first()), own(built);
        QVERIFY(put.open(QIODevice::ReadOnly) && own.open(QIODevice::ReadOnly));
        QVERIFY(put.readAll() == own.readAll());
    }
};

QTEST_GUILESS_MAIN(TestCrossSsh)
#include "tst_cross_ssh.moc"
