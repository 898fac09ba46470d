// SPDX-License-Identifier: GPL-3.0-or-later
// The desktop's command line with the real agent: run, keep, predict.
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

    QByteArray call(const QStringList& words, int expected = 0) const {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_DATA_HOME"), m_data.path());
        for (const char* display : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(display));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words);
        if (!process.waitForFinished(240000) || process.exitCode() != expected) {
            QTest::qFail(process.readAllStandardError().constData(), __FILE__, __LINE__);
            return {};
        }
        return process.readAllStandardOutput();
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
