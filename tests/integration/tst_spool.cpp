// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that outlive their link: real agents, links that are cut, an agent that is killed.
#include <csignal>
#include <sys/mount.h>
#include <sys/stat.h>
#include <utime.h>

#include <QDir>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/integration/serve_client.h"

using namespace shardscope;
using tests::Json;
using tests::ServeClient;

namespace {

const char* const kModel = RESOURCES_DIR "/models/sample-whisper-commands.en.bin";
const char* const kClip = RESOURCES_DIR "/clips/syn-007.wav";
const char* const kText = " you have eight new messages";

/// All is streamed from a slow store, so that the run takes a few seconds.
Json order(const char* speed = "40MB/s") {
    return {
        {"model", kModel},
        {"audio", kClip},
        {"spool", true},
        {"config", {{"pin", "none"}, {"emulate_read", speed}}}};
}

} // namespace

class TestSpool : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QStringList flags() const { return {QStringLiteral("--spool"), spool()}; }
    QString spool() const { return m_folder.filePath(QStringLiteral("deep/runs")); }
    static std::string runIdOf(const Json& answer) {
        return answer.contains("reply") ? answer["reply"].value("run_id", "") : "";
    }
    static std::string textOf(const trace::Recording& recording) {
        return recording.result.is_object() ? recording.result.value("text", "") : "";
    }
    /// The process that performs the only run there is.
    static pid_t writerOf(const QString& folder) {
        for (const QString& name : QDir(folder).entryList({QStringLiteral("*.sst")})) {
            QFile file(QDir(folder).filePath(name));
            struct flock lock {};
            lock.l_type = F_WRLCK;
            if (file.open(QIODevice::ReadOnly) && ::fcntl(file.handle(), F_GETLK, &lock) == 0 &&
                lock.l_type != F_UNLCK)
                return lock.l_pid;
        }
        return 0;
    }

private slots:
    void cleanup() {
        if (const pid_t left = writerOf(spool()))
            ::kill(left, SIGKILL);
        QDir(spool()).removeRecursively();
    }

    void aRunIsHandedOverAndForgotten() {
        ServeClient agent(flags());
        const std::string id = runIdOf(agent.ask("run", order("none")));
        QVERIFY(!id.empty());
        QVERIFY(agent.readUntil(&ServeClient::isEnd, 60000));
        const auto recording = tests::recordingOf(agent.stream);
        QCOMPARE(QString::fromStdString(textOf(recording)), QString(kText));
        QVERIFY(recording.trace.complete);
        QCOMPARE(recording.trace.dropped, std::uint64_t{0});
        QVERIFY(agent.ask("forget", {{"run_id", id}}).contains("reply"));
        QVERIFY(QDir(spool()).isEmpty());
        QVERIFY(agent.end());
    }

    void fiftyCutsLoseNothingAndShowNothingTwice() {
        std::string stream, id;
        {
            ServeClient agent(flags());
            id = runIdOf(agent.ask("run", order("10MB/s")));
            QVERIFY(!id.empty());
            agent.readUntil([](const auto&) { return true; }, 5000);
            agent.cut();
            stream += agent.stream;
        }
        QRandomGenerator random(7);
        bool isOver = false;
        int cuts = 1;
        for (; !isOver && cuts < 400; ++cuts) {
            ServeClient agent(flags());
            QVERIFY(
                agent.ask("attach", {{"run_id", id}, {"from", stream.size()}}).contains("reply"));
            // The last link may stay as long as it takes.
            int frames = cuts < 50 ? static_cast<int>(random.bounded(12)) : 1 << 30;
            isOver = agent.readUntil(
                [&](const auto& frame) { return ServeClient::isEnd(frame) || --frames < 0; },
                cuts < 50 ? 40 : 60000);
            const auto recorded = tests::recordingOf(stream + agent.stream);
            isOver = isOver && recorded.result.is_object();
            stream += agent.stream;
        }
        QVERIFY(isOver);
        qInfo("%d links", cuts);
        QFile whole(QDir(spool()).filePath(QString::fromStdString(id) + ".sst"));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        QCOMPARE(QByteArray::fromStdString(stream), whole.readAll());
        const auto recording = tests::recordingOf(stream);
        QCOMPARE(QString::fromStdString(textOf(recording)), QString(kText));
        QVERIFY(recording.trace.complete);
    }

    void aRunThatNobodyFetchesEndsAndKeepsItsResult() {
        std::string id;
        {
            ServeClient agent(flags());
            id = runIdOf(agent.ask("run", order()));
            QVERIFY(agent.end());
        }
        QTRY_VERIFY_WITH_TIMEOUT(writerOf(spool()) == 0, 60000);
        ServeClient later(flags());
        const Json runs = later.ask("runs")["reply"]["runs"];
        QCOMPARE(runs.size(), std::size_t{1});
        QCOMPARE(
            QString::fromStdString(runs[0]["run_id"].get<std::string>()),
            QString::fromStdString(id));
        QCOMPARE(runs[0]["alive"].get<bool>(), false);
        QVERIFY(later.ask("attach", {{"run_id", id}, {"from", 0}}).contains("reply"));
        QVERIFY(later.readUntil(&ServeClient::isEnd, 10000));
        QCOMPARE(QString::fromStdString(textOf(tests::recordingOf(later.stream))), QString(kText));
        QCOMPARE(QDir(spool()).entryList(QDir::Files).size(), 1); // no reserve is left
    }

    void aKilledRunIsToldAsSuch() {
        ServeClient agent(flags());
        QVERIFY(!runIdOf(agent.ask("run", order("1MB/s"))).empty());
        QVERIFY(agent.readUntil([](const auto&) { return true; }, 5000));
        ::kill(writerOf(spool()), SIGKILL);
        QVERIFY(agent.readUntil(&ServeClient::isEnd, 10000));
        QVERIFY(agent.stream.find("was killed") != std::string::npos);
    }

    void aRunIsStoppedOverAnotherLink() {
        std::string id;
        {
            ServeClient agent(flags());
            id = runIdOf(agent.ask("run", order("1MB/s")));
            QVERIFY(!id.empty());
        }
        ServeClient agent(flags());
        QVERIFY(agent.ask("attach", {{"run_id", id}, {"from", 0}}).contains("reply"));
        QVERIFY(agent.ask("forget", {{"run_id", id}}).contains("error")); // it goes on
        QVERIFY(agent.ask("stop").contains("reply"));
        QVERIFY(agent.readUntil(&ServeClient::isEnd, 20000));
        QCOMPARE(tests::recordingOf(agent.stream).result.value("stopped", false), true);
    }

    void theLimitStopsARun() {
        ServeClient agent(flags());
        Json limited = order("1MB/s");
        limited["limit_s"] = 1;
        QVERIFY(!runIdOf(agent.ask("run", limited)).empty());
        QVERIFY(agent.readUntil(&ServeClient::isEnd, 30000));
        QCOMPARE(tests::recordingOf(agent.stream).result.value("stopped", false), true);
    }

    void aBoundedSpoolKeepsTextAndResult() {
        ServeClient agent(flags());
        Json bounded = order("none");
        bounded["spool_mib"] = 0;
        QVERIFY(!runIdOf(agent.ask("run", bounded)).empty());
        QVERIFY(agent.readUntil(&ServeClient::isEnd, 60000));
        const auto recording = tests::recordingOf(agent.stream);
        QCOMPARE(QString::fromStdString(textOf(recording)), QString(kText));
        QVERIFY(recording.trace.events.empty());
    }

    void aFullDiskCostsEventsButNotTheResult() {
        const QString disk = m_folder.filePath(QStringLiteral("disk"));
        QDir().mkpath(disk);
        const QByteArray at = disk.toLocal8Bit();
        if (::mount("none", at.constData(), "tmpfs", 0, "size=512k") != 0)
            QSKIP("a file system may not be mounted here");
        {
            ServeClient agent({QStringLiteral("--spool"), disk});
            QVERIFY(!runIdOf(agent.ask("run", order())).empty());
            QVERIFY(agent.readUntil([](const auto&) { return true; }, 5000));
            QFile filler(disk + "/filler");
            QVERIFY(filler.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
            while (filler.write(QByteArray(4096, 'x')) == 4096) {
            }
            QVERIFY(agent.readUntil(&ServeClient::isEnd, 60000));
            const auto recording = tests::recordingOf(agent.stream);
            QCOMPARE(QString::fromStdString(textOf(recording)), QString(kText));
        }
        {
            ServeClient agent({QStringLiteral("--spool"), disk});
            const Json refused = agent.ask("run", order()); // no room for the reserve
            QVERIFY(refused.contains("error"));
            QVERIFY(refused.dump().find("No space left") != std::string::npos);
        }
        bool isFree = false; // once it is, it cannot be unmounted again
        QTRY_VERIFY_WITH_TIMEOUT(isFree = isFree || ::umount(at.constData()) == 0, 10000);
    }

    void whatNobodyFetchedIsSweptAfterAWeek() {
        QDir().mkpath(spool());
        const auto put = [&](const char* name, int days) {
            const QByteArray path = QDir(spool()).filePath(QString::fromLatin1(name)).toLocal8Bit();
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.close();
            const utimbuf times{::time(nullptr) - days * 86400, ::time(nullptr) - days * 86400};
            QCOMPARE(::utime(path.constData(), &times), 0);
        };
        put("20260101-000000-1-0.sst", 8);
        put("20260102-000000-1-0.sst", 6);
        put("notes.txt", 99);
        ServeClient agent(flags());
        QCOMPARE(agent.ask("runs")["reply"]["runs"].size(), std::size_t{1});
        QCOMPARE(QDir(spool()).entryList(QDir::Files).size(), 2);
    }

    void refusesWhatCannotBe_data() {
        QTest::addColumn<QByteArray>("request");
        QTest::addColumn<QByteArray>("parameters");
        QTest::newRow("a path as an id")
            << QByteArray("attach") << QByteArray(R"({"run_id":"../x"})");
        QTest::newRow("no id") << QByteArray("attach") << QByteArray("{}");
        QTest::newRow("unknown run") << QByteArray("attach") << QByteArray(R"({"run_id":"1-2"})");
        QTest::newRow("unknown run to forget")
            << QByteArray("forget") << QByteArray(R"({"run_id":"1-2"})");
    }
    void refusesWhatCannotBe() {
        QFETCH(QByteArray, request);
        QFETCH(QByteArray, parameters);
        ServeClient agent(flags());
        QVERIFY(agent.ask(request.toStdString(), Json::parse(parameters.toStdString()))
                    .contains("error"));
        QVERIFY(agent.ask("hello").contains("reply")); // and goes on
    }

    void aModelThatIsNotThereIsTheRunsError() {
        ServeClient agent(flags());
        Json wrong = order();
        wrong["model"] = "/nowhere.bin";
        QVERIFY(!runIdOf(agent.ask("run", wrong)).empty());
        QVERIFY(agent.readUntil(&ServeClient::isEnd, 10000));
        QVERIFY(agent.stream.find("/nowhere.bin") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestSpool)
#include "tst_spool.moc"
