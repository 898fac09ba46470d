// SPDX-License-Identifier: GPL-3.0-or-later
// The contract of the command line: exit statuses, one line a failure, documents.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "sim_engine/plan/knobs.h"
#include "tests/integration/sample_stream.h"

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");

struct Done {
    int status = -1;
    QByteArray out, err;
    QJsonDocument json() const { return QJsonDocument::fromJson(out); }
};

} // namespace

class TestCli : public QObject {
    Q_OBJECT

    QTemporaryDir m_data;

    Done call(const QStringList& words) const {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_DATA_HOME"), m_data.path());
        for (const char* display : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(display));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words);
        if (!process.waitForFinished(120000) || process.exitStatus() != QProcess::NormalExit)
            return {-1, process.readAllStandardOutput(), process.readAllStandardError()};
        return {
            process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    /// Two numbers give two recordings of equal runs.
    QString importedSample(int number = 2) const {
        const QString path = m_data.filePath(QStringLiteral("sample.sst"));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            return {};
        const std::string bytes = shardscope::testing::sampleStream(number).whole();
        file.write(bytes.data(), static_cast<qint64>(bytes.size()));
        file.close();
        return QString::fromUtf8(
            call({QStringLiteral("runs"), QStringLiteral("import"), path}).out.trimmed());
    }

private slots:
    void init() { m_data = QTemporaryDir(); }

    void failsWithTheRightStatusAndOneLine_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<int>("status");
        QTest::newRow("no such verb") << "simulat" << 2;
        QTest::newRow("no such flag") << "simulate --modl x" << 2;
        QTest::newRow("no value") << "simulate --model" << 2;
        QTest::newRow("no model") << "simulate --board v851s-512m-nand" << 2;
        QTest::newRow("wrong knob") << "plan --model card:whisper-tiny --kv q3" << 2;
        QTest::newRow("no such card")
            << "plan --model card:whisper-giant --board v851s-512m-nand" << 2;
        QTest::newRow("no such board") << "plan --model card:whisper-tiny --board pi9" << 2;
        QTest::newRow("a word too many")
            << "plan --model card:whisper-tiny --board v851s-512m-nand x" << 2;
        QTest::newRow("no such place to run")
            << "run --board nowhere --model m.bin --audio a.wav" << 2;
        QTest::newRow("no such run") << "runs show 123" << 2;
        QTest::newRow("no such form") << "runs frobnicate" << 2;
        QTest::newRow("no such format") << "runs export 1 --format xls" << 2;
        QTest::newRow("does not fit")
            << "simulate --model card:whisper-small --board v851s-512m-nand --budget 1MiB" << 3;
        QTest::newRow("missing model")
            << "simulate --model /nowhere/m.bin --board v851s-512m-nand" << 4;
        QTest::newRow("foreign model") << "simulate --board v851s-512m-nand --model " + kClip << 4;
        QTest::newRow("missing profile")
            << "simulate --model card:whisper-tiny --board /nowhere/b.json" << 4;
        QTest::newRow("foreign profile")
            << "simulate --model card:whisper-tiny --board " + kClip << 4;
        QTest::newRow("a card cannot run")
            << "run --board local --model card:whisper-tiny --audio " + kClip << 4;
        QTest::newRow("missing audio")
            << "run --board local --model " + kModel + " --audio /nowhere/a.wav" << 4;
        QTest::newRow("missing recording") << "runs import /nowhere/a.sst" << 4;
        QTest::newRow("no display") << "" << 5;
    }
    void failsWithTheRightStatusAndOneLine() {
        QFETCH(QString, line);
        QFETCH(int, status);
        const Done done = call(line.split(QLatin1Char(' '), Qt::SkipEmptyParts));
        QVERIFY2(done.status == status, done.err.constData());
        QVERIFY(done.err.startsWith("shardscope: "));
        QCOMPARE(done.err.count('\n'), 1);
        QVERIFY(done.err.contains("; ")); // what to do
    }

    void simulatePrintsTheResultDocument() {
        const Done done = call(
            {QStringLiteral("simulate"), QStringLiteral("--model"), kModel,
             QStringLiteral("--board"), QStringLiteral("v851s-512m-nand"),
             QStringLiteral("--budget"), QStringLiteral("20MiB"), QStringLiteral("--max-tokens=7"),
             QStringLiteral("--json")});
        QVERIFY2(done.status == 0, done.err.constData());
        const QJsonObject result = done.json().object();
        QCOMPARE(result[QStringLiteral("n_tokens")].toInt(), 7);
        QVERIFY(result[QStringLiteral("feasible")].toBool());
        const QJsonObject memory = result[QStringLiteral("memory")].toObject();
        QVERIFY(memory[QStringLiteral("planned_peak_bytes")].toDouble() <= 20 * 1048576);
        for (const auto& knob : shardscope::plan::knobs())
            QVERIFY2(
                result[QStringLiteral("config")].toObject().contains(
                    QLatin1String(knob.key.data(), static_cast<qsizetype>(knob.key.size()))),
                knob.key.data());
    }

    void whatDoesNotFitSaysWhatWouldInJsonToo() {
        const Done done = call(
            {QStringLiteral("plan"), QStringLiteral("--model"), kModel, QStringLiteral("--board"),
             QStringLiteral("v851s-512m-nand"), QStringLiteral("--budget"), QStringLiteral("2MiB"),
             QStringLiteral("--json")});
        QCOMPARE(done.status, 3);
        const QJsonObject result = done.json().object();
        QCOMPARE(result[QStringLiteral("feasible")].toBool(true), false);
        QVERIFY(
            result[QStringLiteral("infeasible")].toObject().contains(QStringLiteral("nearest")));
    }

    void planShowsShardsAndArena() {
        const Done done = call(
            {QStringLiteral("plan"), QStringLiteral("--model"),
             QStringLiteral("card:whisper-base.en"), QStringLiteral("--board"),
             QStringLiteral("rk3588-16g-nvme"), QStringLiteral("--json")});
        QVERIFY2(done.status == 0, done.err.constData());
        const QJsonObject plan = done.json().object();
        const double peak = plan[QStringLiteral("memory")]
                                .toObject()[QStringLiteral("planned_peak_bytes")]
                                .toDouble();
        double top = 0;
        for (const QJsonValue& block : plan[QStringLiteral("arena")].toArray())
            top = std::max(
                top, block.toObject()[QStringLiteral("offset")].toDouble() +
                         block.toObject()[QStringLiteral("bytes")].toDouble());
        QCOMPARE(top, peak);
        QVERIFY(plan[QStringLiteral("shards")].toArray().size() > 5);
    }

    void helpTeachesEveryKnob_data() {
        QTest::addColumn<QString>("verb");
        for (const char* verb : {"plan", "simulate", "run", "runs", "boards"})
            QTest::newRow(verb) << QString::fromLatin1(verb);
    }
    void helpTeachesEveryKnob() {
        QFETCH(QString, verb);
        const Done done = call({verb, QStringLiteral("--help")});
        QCOMPARE(done.status, 0);
        QVERIFY(done.out.contains("shardscope " + verb.toUtf8()));
        if (verb == QLatin1String("runs") || verb == QLatin1String("boards"))
            return;
        for (const auto& knob : shardscope::plan::knobs())
            QVERIFY2(
                done.out.contains(
                    QByteArray(knob.flag.data(), static_cast<qsizetype>(knob.flag.size()))),
                knob.flag.data());
    }

    void presetsAreListedAndCanBeCopied() {
        const Done list = call({QStringLiteral("boards"), QStringLiteral("list")});
        for (const char* board : {"rk3588-16g-emmc", "rk3588-16g-nvme", "v851s-512m-nand"})
            QVERIFY(list.out.contains(board));
        const Done show = call(
            {QStringLiteral("boards"), QStringLiteral("show"), QStringLiteral("v851s-512m-nand")});
        QCOMPARE(show.status, 0);
        QVERIFY(!show.json().object()[QStringLiteral("source")].toString().isEmpty());
        const QString path = m_data.filePath(QStringLiteral("copy.json"));
        QFile copy(path);
        QVERIFY(copy.open(QIODevice::WriteOnly));
        copy.write(show.out);
        copy.close();
        QCOMPARE(
            call({QStringLiteral("simulate"), QStringLiteral("--model"), kModel,
                  QStringLiteral("--board"), path})
                .status,
            0);
    }

    void runsAreListedShownComparedExportedAndDeleted() {
        const QString a = importedSample(2), b = importedSample(3);
        QVERIFY(!a.isEmpty() && a != b);
        QCOMPARE(importedSample(2), a); // each recording is kept once
        const QString runs = QStringLiteral("runs"), json = QStringLiteral("--json");
        QCOMPARE(call({runs, QStringLiteral("list"), json}).json().array().size(), 2);
        const QJsonObject shown =
            call({runs, QStringLiteral("show"), a.left(8), json}).json().object();
        QCOMPARE(shown[QStringLiteral("state")].toString(), QStringLiteral("done"));
        const QJsonObject compared =
            call({runs, QStringLiteral("compare"), a, b, json}).json().object();
        QVERIFY(compared[QStringLiteral("same_text")].toBool());
        for (const QJsonValue& figure : compared[QStringLiteral("figures")].toArray())
            QCOMPARE(
                figure.toObject()[QStringLiteral("change")].toString(), QStringLiteral("same"));
        const QString out = m_data.filePath(QStringLiteral("out"));
        for (const char* format : {"perfetto", "csv", "sst"}) {
            const Done done = call(
                {runs, QStringLiteral("export"), a, QStringLiteral("--format"),
                 QLatin1String(format), QStringLiteral("-o"), out});
            QVERIFY2(done.status == 0, done.err.constData());
            QVERIFY(QFileInfo(out).size() > 1000);
        }
        QFile exported(out);
        QVERIFY(exported.open(QIODevice::ReadOnly));
        QCOMPARE(exported.readAll().toStdString(), shardscope::testing::sampleStream().whole());
        QCOMPARE(call({runs, QStringLiteral("delete"), a, b}).status, 0);
        QCOMPARE(call({runs, QStringLiteral("list"), json}).json().array().size(), 0);
    }

    void aDamagedStoreIsOneLine() {
        QVERIFY(QDir(m_data.path()).mkpath(QStringLiteral("shardscope")));
        QFile file(m_data.filePath(QStringLiteral("shardscope/shardscope.db")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray("not a database, a letter\n").repeated(100));
        file.close();
        const Done done = call({QStringLiteral("runs"), QStringLiteral("list")});
        QCOMPARE(done.status, 4);
        QCOMPARE(done.err.count('\n'), 1);
        // Planning needs no store.
        QCOMPARE(
            call({QStringLiteral("simulate"), QStringLiteral("--model"), kModel,
                  QStringLiteral("--board"), QStringLiteral("v851s-512m-nand")})
                .status,
            0);
    }
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
