// SPDX-License-Identifier: GPL-3.0-or-later
// The agents of the cross presets, built and run under user-mode emulation: the same tokens as the
// agent of this machine, and logits within the differences of the last bits that other vectors
// make.
#include <QtTest>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>

#include <cmath>
#include <cstring>
#include <vector>

namespace {

const QString kSource = QStringLiteral(RESOURCES_DIR "/..");
const QString kOwnAgent = QStringLiteral(PROGRAMS_DIR "/shardscope-agent");

struct Outcome {
    QString error;
    QJsonArray tokens;
    std::vector<float> logits;
};

QString errorOf(const QString& program, const QStringList& arguments, int seconds) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setWorkingDirectory(kSource);
    process.start(program, arguments);
    const bool ended = process.waitForFinished(seconds * 1000);
    if (ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0)
        return {};
    return program + ": " + QString::fromUtf8(process.readAll().right(2000));
}

/// Runs the sample clip, with a shorter window for the sake of the emulation.
Outcome outcomeOf(const QStringList& agent) {
    const QTemporaryDir folder;
    QStringList words = agent;
    words +=
        {"run",
         "--model",
         RESOURCES_DIR "/models/sample-whisper-commands.en.bin",
         "--audio",
         RESOURCES_DIR "/clips/syn-000.wav",
         "--audio-ctx",
         "300",
         "--threads",
         "2",
         "--json",
         folder.filePath("run.json"),
         "--dump-logits",
         folder.filePath("logits.f32")};
    Outcome outcome;
    const QString program = words.takeFirst();
    outcome.error = errorOf(program, words, 600);
    QFile json(folder.filePath("run.json")), logits(folder.filePath("logits.f32"));
    if (!json.open(QIODevice::ReadOnly) || !logits.open(QIODevice::ReadOnly))
        return outcome;
    outcome.tokens = QJsonDocument::fromJson(json.readAll())["tokens"].toArray();
    const QByteArray bytes = logits.readAll();
    outcome.logits.resize(static_cast<std::size_t>(bytes.size()) / sizeof(float));
    std::memcpy(outcome.logits.data(), bytes.constData(), outcome.logits.size() * sizeof(float));
    return outcome;
}

} // namespace

class TestCrossAgents : public QObject {
    Q_OBJECT
private slots:
    void agreesWithTheAgentOfThisMachine_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("tools");
        QTest::addColumn<QString>("emulator");
        QTest::addColumn<qint64>("mostBytes");
        QTest::newRow("armhf") << "armhf"
                               << "arm-linux-gnueabihf-"
                               << "qemu-arm-static" << qint64{2'000'000};
        QTest::newRow("arm64") << "arm64"
                               << "aarch64-linux-gnu-"
                               << "qemu-aarch64-static" << qint64{3'000'000};
    }
    void agreesWithTheAgentOfThisMachine() {
        QFETCH(const QString, preset);
        QFETCH(const QString, tools);
        QFETCH(const QString, emulator);
        QFETCH(const qint64, mostBytes);
        for (const QString& needed : {tools + "g++", emulator, QString("cmake"), QString("ninja")})
            if (QStandardPaths::findExecutable(needed).isEmpty())
                QSKIP(qPrintable(needed + " is not installed"));
        const QString folder = QStringLiteral(PROGRAMS_DIR "/../cross/") + preset;
        QCOMPARE(errorOf("cmake", {"--preset", preset, "-B", folder}, 120), QString());
        QCOMPARE(errorOf("cmake", {"--build", folder}, 1500), QString());

        const QString agent = folder + "/bin/shardscope-agent", stripped = folder + "/stripped";
        QCOMPARE(errorOf(tools + "strip", {"-o", stripped, agent}, 60), QString());
        QVERIFY2(
            QFileInfo(stripped).size() <= mostBytes,
            qPrintable(QString::number(QFileInfo(stripped).size())));

        const Outcome own = outcomeOf({kOwnAgent}), other = outcomeOf({emulator, stripped});
        QCOMPARE(own.error, QString());
        QCOMPARE(other.error, QString());
        QVERIFY(!own.tokens.isEmpty());
        QCOMPARE(other.tokens, own.tokens);
        QCOMPARE(other.logits.size(), own.logits.size());
        double most = 0.0;
        for (std::size_t i = 0; i < own.logits.size(); ++i)
            most = std::max(most, std::fabs(double(own.logits[i]) - double(other.logits[i])));
        QVERIFY2(most < 0.02, qPrintable(QString::number(most)));
    }
};

QTEST_GUILESS_MAIN(TestCrossAgents)
#include "tst_cross_agents.moc"
