// SPDX-License-Identifier: GPL-3.0-or-later
// `tune` and `sweep` as commands: documents, files, one line a failure, real runs.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
constexpr double kMiB = 1 << 20;

struct Done {
    int status = -1;
    QByteArray out, err;
    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

} // namespace

class TestTuneCli : public QObject {
    Q_OBJECT

    QTemporaryDir m_data;

    QProcessEnvironment environment() const {
        QProcessEnvironment e = QProcessEnvironment::systemEnvironment();
        e.insert(QStringLiteral("XDG_DATA_HOME"), m_data.path());
        return e;
    }
    Done call(const QString& line) const {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope"),
            line.split(QLatin1Char(' '), Qt::SkipEmptyParts));
        if (!process.waitForFinished(240000) || process.exitStatus() != QProcess::NormalExit)
            return {};
        return {
            process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

private slots:
    void init() { m_data = QTemporaryDir(); }

    void failsWithTheRightStatusAndOneLine_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<int>("status");
        const QString tune = QStringLiteral("tune --model card:whisper-tiny.en --board "
                                            "v851s-512m-nand ");
        QTest::newRow("no model") << "tune --board v851s-512m-nand" << 2;
        QTest::newRow("wrong limit") << tune + "--max-ms-per-token fast" << 2;
        QTest::newRow("limit of nothing") << tune + "--max-first-token 0" << 2;
        QTest::newRow("wrong accuracy") << tune + "--accuracy perfect" << 2;
        QTest::newRow("wrong knob") << tune + "--slots 0" << 2;
        QTest::newRow("wrong part") << tune + "--part 3/2" << 2;
        QTest::newRow("no part") << tune + "--part half" << 2;
        QTest::newRow("a board twice") << tune + "--board v851s-512m-nand" << 2;
        QTest::newRow("a board without a name") << "tune --model card:whisper-tiny --board" << 2;
        QTest::newRow("no such board") << "tune --model card:whisper-tiny --board pi9" << 2;
        QTest::newRow("audio without runs") << tune + "--audio " + kClip << 2;
        QTest::newRow("a card cannot run") << tune + "--verify 2" << 4;
        QTest::newRow("missing model")
            << "tune --model /nowhere/m.bin --board v851s-512m-nand" << 4;
        QTest::newRow("nothing fits") << tune + "--budget 1MiB" << 3;
        QTest::newRow("nothing is that fast")
            << tune + "--budget 40MiB --max-ms-per-token 0.001" << 3;
        const QString sweep = QStringLiteral("sweep --model card:whisper-tiny.en --board "
                                             "v851s-512m-nand ");
        QTest::newRow("no such knob to sweep") << sweep + "--over colour" << 2;
        QTest::newRow("a swept knob that is given") << sweep + "--over slots --slots 2" << 2;
        QTest::newRow("no values known") << sweep + "--over budget" << 2;
        QTest::newRow("a wrong value") << sweep + "--values tensor,much" << 2;
        QTest::newRow("a folder that is none") << sweep + "--svg /nowhere/x.svg" << 5;
    }
    void failsWithTheRightStatusAndOneLine() {
        QFETCH(QString, line);
        QFETCH(int, status);
        const Done done = call(line);
        QVERIFY2(done.status == status, done.err.constData());
        QVERIFY(done.err.startsWith("shardscope: "));
        QCOMPARE(done.err.count('\n'), 1);
        QVERIFY(done.err.contains("; "));
    }

    void tunePrintsAFrontThatNothingBeats() {
        const Done done = call(
            QStringLiteral("tune --model card:whisper-tiny.en --board v851s-512m-nand --budget "
                           "40MiB --max-tokens 24 --json"));
        QVERIFY2(done.status == 0, done.err.constData());
        const QJsonArray front = done.json()[QLatin1String("front")].toArray();
        QVERIFY(front.size() >= 3);
        double peak = 0, time = 1e18;
        for (const auto& value : front) {
            const QJsonObject point = value.toObject();
            const double bytes =
                point[QLatin1String("memory")][QLatin1String("planned_peak_bytes")].toDouble();
            const double ms =
                point[QLatin1String("timing")][QLatin1String("decode_ms_per_token")].toDouble();
            QVERIFY(bytes > peak && bytes <= 40 * kMiB);
            QVERIFY(ms < time && ms > 0);
            QVERIFY(!point[QLatin1String("why")].toArray().isEmpty());
            peak = bytes;
            time = ms;
            // The flags give the run that is promised.
            const Done again = call(
                QStringLiteral("simulate --model card:whisper-tiny.en --board v851s-512m-nand "
                               "--json ") +
                point[QLatin1String("flags")].toString());
            QVERIFY2(again.status == 0, again.err.constData());
            QCOMPARE(
                again.json()[QLatin1String("plan")][QLatin1String("hash")].toString(),
                point[QLatin1String("plan")][QLatin1String("hash")].toString());
        }
    }

    void severalBoardsGiveADocumentEachAndPartsShareThem() {
        const QString line =
            QStringLiteral("tune --model card:whisper-tiny.en --board v851s-512m-nand --board "
                           "rk3588-16g-emmc --budget 40MiB --max-tokens 8 --json");
        const QJsonArray both = call(line).json()[QLatin1String("boards")].toArray();
        QCOMPARE(both.size(), 2);
        const QJsonObject second = call(line + " --part 2/2").json();
        QCOMPARE(second[QLatin1String("board")].toString(), QStringLiteral("rk3588-16g-emmc"));
        QCOMPARE(second[QLatin1String("front")], both[1].toObject()[QLatin1String("front")]);
    }

    void anInterruptedSearchPrintsWhatItHas() {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope"),
            {QStringLiteral("tune"), QStringLiteral("--model"),
             QStringLiteral("card:whisper-large-v3"), QStringLiteral("--board"),
             QStringLiteral("rk3588-16g-nvme"), QStringLiteral("--json")});
        QVERIFY(process.waitForStarted());
        QVERIFY(!process.waitForFinished(3000)); // such a model takes longer
        process.terminate();
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 5);
        QVERIFY(process.readAllStandardError().contains("stopped"));
        const QByteArray out = process.readAllStandardOutput();
        if (!out.isEmpty()) // it may have had nothing yet
            QCOMPARE(QJsonDocument::fromJson(out)[QLatin1String("complete")].toBool(true), false);
    }

    void verifiedPointsAreRunsThatAreKept() {
        const Done done = call(
            "tune --model " + kModel + " --board v851s-512m-nand --budget 24MiB --verify 1 --json");
        // A board from data sheets cannot be run on: that is said before anything is searched.
        QCOMPARE(done.status, 2);
        QCOMPARE(done.err.count('\n'), 1);
        const Done local = call(
            "tune --model " + kModel + " --budget 24MiB --verify 2 --audio " + kClip + " --json");
        QVERIFY2(local.status == 0, local.err.constData());
        const QJsonArray verified = local.json()[QLatin1String("verified")].toArray();
        QVERIFY(verified.size() >= 1);
        const QJsonArray runs =
            QJsonDocument::fromJson(call(QStringLiteral("runs list --json")).out).array();
        QCOMPARE(runs.size(), verified.size());
        for (const auto& value : verified) {
            const QJsonObject one = value.toObject();
            QVERIFY(!one[QLatin1String("run")].toString().isEmpty());
            QVERIFY(
                one[QLatin1String("measured")][QLatin1String("memory")]
                   [QLatin1String("arena_peak_bytes")]
                       .toDouble() <= one[QLatin1String("predicted")][QLatin1String("memory")]
                                         [QLatin1String("planned_peak_bytes")]
                                             .toDouble());
            QVERIFY(one[QLatin1String("difference")][QLatin1String("total_ms")].isDouble());
        }
    }

    void sweepWritesATableAndAPicture() {
        const QString svg = m_data.filePath(QStringLiteral("s.svg"));
        const QString csv = m_data.filePath(QStringLiteral("s.csv"));
        const Done done = call(
            "sweep --model card:whisper-tiny.en --board v851s-512m-nand --max-tokens 16 --json "
            "--svg " +
            svg + " --csv " + csv);
        QVERIFY2(done.status == 0, done.err.constData());
        QCOMPARE(done.json()[QLatin1String("rows")].toArray().size(), 5);
        QFile picture(svg), values(csv);
        QVERIFY(picture.open(QIODevice::ReadOnly) && values.open(QIODevice::ReadOnly));
        QVERIFY(picture.readAll().startsWith("<svg"));
        QCOMPARE(values.readAll().count('\n'), 6);
    }
};

QTEST_GUILESS_MAIN(TestTuneCli)
#include "tst_tune_cli.moc"
