// SPDX-License-Identifier: GPL-3.0-or-later
// What the agent as a process holds, against what the plan promised: the arena is as large as
// planned, and everything else - program, header, vocabulary, rings - stays within 6 MiB.
#include <QtTest>

#include "tests/integration/engine_run.h"
#include "tests/integration/random_model.h"

using namespace shardscope;

class TestAgentMemory : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        tests::RandomModel model;
        model.width = 384;
        model.heads = 6;
        model.layers = 4;
        QVERIFY(tests::writeRandomModel(model, m_folder.filePath("tiny.bin").toStdString()).ok());
    }

    void theProcessHoldsLittleBesideTheArena_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("knobs");
        const QString sample = QString::fromStdString(tests::sampleModel());
        const QString tiny = m_folder.filePath("tiny.bin");
        QTest::newRow("sample, all resident") << sample << QStringList{};
        QTest::newRow("sample, 10 MiB") << sample << QStringList{"--budget", "10MiB"};
        QTest::newRow("tiny, all resident") << tiny << QStringList{};
        for (const char* budget : {"18MiB", "24MiB", "40MiB"})
            QTest::addRow("tiny, %s", budget) << tiny << QStringList{"--budget", budget};
        QTest::newRow("tiny, thrifty") << tiny
                                       << QStringList{
                                              "--budget",
                                              "11MiB",
                                              "--encoder-shard",
                                              "tensor",
                                              "--decoder-shard",
                                              "tensor",
                                              "--slots",
                                              "1",
                                              "--cross-kv",
                                              "shared",
                                              "--kv",
                                              "q8"};
        QTest::newRow("tiny, four threads, three slots")
            << tiny << QStringList{"--budget", "40MiB", "--threads", "4", "--slots", "3"};
        QTest::newRow("tiny, timestamps, language")
            << tiny << QStringList{"--budget", "30MiB", "--timestamps", "on", "--language", "auto"};
        for (const char* loader : {"pread", "direct", "uring"})
            QTest::addRow("tiny, %s", loader)
                << tiny << QStringList{"--budget", "30MiB", "--loader", loader};
    }
    void theProcessHoldsLittleBesideTheArena() {
        QFETCH(QString, model);
        QFETCH(QStringList, knobs);
        QProcess agent;
        agent.setStandardErrorFile(QProcess::nullDevice());
        agent.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope-agent"),
            QStringList{
                "run", "--model", model, "--audio",
                QString::fromStdString(tests::sampleClip("syn-000.wav")), "--max-tokens", "12",
                "--raw-greedy", "--json", m_folder.filePath("result.json")} +
                knobs);
        QVERIFY(agent.waitForFinished(60000));
        QCOMPARE(agent.exitCode(), 0);
        QFile file(m_folder.filePath("result.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject memory =
            QJsonDocument::fromJson(file.readAll()).object()["memory"].toObject();
        const double planned = memory["planned_peak_bytes"].toDouble();
        const double resident = memory["rss_peak_bytes"].toDouble();
        QVERIFY(planned > 0);
        QCOMPARE(memory["arena_peak_bytes"].toDouble(), planned);
        constexpr double kMebibyte = 1 << 20;
        QVERIFY2(
            resident < planned + 6 * kMebibyte,
            qPrintable(QStringLiteral("%1 MiB beside %2 MiB")
                           .arg((resident - planned) / kMebibyte)
                           .arg(planned / kMebibyte)));
        QVERIFY(resident > planned / 2); // it was measured
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestAgentMemory)
#include "tst_agent_memory.moc"
