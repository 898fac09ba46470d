// SPDX-License-Identifier: GPL-3.0-or-later
// `validate`, `runs import` of its results and `calibrate`, as they are called.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
constexpr int kPatience = 300000;

struct Done {
    int status = -1;
    QByteArray out, err;
    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

} // namespace

class TestValidateCli : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    Done call(const QStringList& words, const QString& home) const {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_DATA_HOME"), m_folder.filePath(home));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(PROGRAMS_DIR "/shardscope"), words);
        if (!process.waitForFinished(kPatience))
            return {-1, process.readAllStandardOutput(), process.readAllStandardError()};
        return {
            process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    QString written(const QString& name, const QByteArray& text) const {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            return {};
        return file.fileName();
    }
    QStringList validate(const QString& grid, const QStringList& more = {}) const {
        return QStringList{"validate", "--model", kModel,   "--audio",  kClip,
                           "--grid",   grid,      "--json", "--repeat", "1"} +
               more;
    }

private slots:
    void predictsEachConfigurationFromTheOthers() {
        const QString grid = written(
            QStringLiteral("grid.json"),
            R"([{"max_tokens": 6, "threads": 1, "loader": "pread", "pin": "none",
                 "slots": [1, 2], "kv": ["f16", "q8"]},
                {"max_tokens": 6, "threads": 1, "loader": "mmap", "emulate_read": "400MB/s"}])");
        const Done done = call(validate(grid), QStringLiteral("home"));
        QVERIFY2(done.status == 0, done.err.constData());
        const QJsonObject json = done.json();
        QCOMPARE(json["configurations"].toInt(), 5);
        QVERIFY(json["complete"].toBool());
        const QJsonArray runs = json["runs"].toArray();
        QCOMPARE(runs.size(), 5);
        for (const auto& run : runs) {
            const QJsonObject measured = run.toObject()["measured"].toObject();
            const QJsonObject predicted = run.toObject()["predicted"].toObject();
            QVERIFY(measured["decode_ms_per_token"].toDouble() > 0);
            QVERIFY(predicted["decode_ms_per_token"].toDouble() > 0);
            QCOMPARE(predicted["bytes_read"].toDouble(), measured["bytes_read"].toDouble());
        }
        const QJsonObject errors = json["errors"].toObject();
        for (const char* figure :
             {"decode_ms_per_token", "first_token_ms", "encode_ms", "total_ms", "stall_ms",
              "bytes_read", "peak_bytes"}) {
            const QJsonObject e = errors[figure].toObject();
            QVERIFY2(e["median"].isDouble() && e["p90"].isDouble(), figure);
            QVERIFY(e["median"].toDouble() <= e["p90"].toDouble());
            QVERIFY(e["p90"].toDouble() <= e["worst"].toDouble());
        }
        QVERIFY(json["order_right"].toDouble() >= 0 && json["order_right"].toDouble() <= 1);
        theErrorIsToldWithLaterPredictions();
        resultsAreImportedOnce(done.out);
    }

    void badGridsAreOneLineAndLeaveNothing_data() {
        QTest::addColumn<QByteArray>("grid");
        QTest::addColumn<int>("status");
        QTest::newRow("no JSON") << QByteArray("loader: pread") << 4;
        QTest::newRow("no list") << QByteArray("{\"loader\": \"pread\"}") << 4;
        QTest::newRow("empty") << QByteArray("[]") << 4;
        QTest::newRow("no object") << QByteArray("[1, 2]") << 4;
        QTest::newRow("unknown knob") << QByteArray("[{\"loder\": [\"pread\", \"mmap\"]}]") << 2;
        QTest::newRow("wrong value") << QByteArray("[{\"loader\": [\"pread\", \"tape\"]}]") << 2;
        QTest::newRow("wrong kind") << QByteArray("[{\"slots\": {\"a\": 1}}]") << 4;
        QTest::newRow("alone") << QByteArray("[{\"slots\": 2}]") << 2;
        QTest::newRow("does not fit") << QByteArray("[{\"budget\": [\"1MiB\", \"90MiB\"]}]") << 3;
    }
    void badGridsAreOneLineAndLeaveNothing() {
        QFETCH(QByteArray, grid);
        QFETCH(int, status);
        const Done done =
            call(validate(written(QStringLiteral("bad.json"), grid)), QStringLiteral("home"));
        QCOMPARE(done.status, status);
        QVERIFY(done.out.isEmpty());
        QCOMPARE(done.err.trimmed().count('\n'), 0);
        QVERIFY(done.err.startsWith("shardscope: "));
    }

    void importsThatAreNoResultsAreRefusedWhole() {
        const QString file = written(
            QStringLiteral("half.json"),
            R"({"runs": [{"board": "local", "model": "m.bin", "when": "2026-01-01T00:00:00Z"}]})");
        const Done done = call({"runs", "import", file}, QStringLiteral("other"));
        QCOMPARE(done.status, 4);
        QCOMPARE(done.err.trimmed().count('\n'), 0);
    }

    void aProfileIsFittedToARun() {
        const QString home = QStringLiteral("home");
        const Done run = call(
            {"run", "--model", kModel, "--audio", kClip, "--max-tokens", "6", "--loader", "pread",
             "--json"},
            home);
        QVERIFY2(run.status == 0, run.err.constData());
        const Done list = call({"runs", "list", "--json"}, home);
        const QString id =
            QJsonDocument::fromJson(list.out).array().first().toObject()["id"].toString();
        const QString profile = m_folder.filePath(QStringLiteral("fit.json"));
        const Done fit = call({"calibrate", id, "-o", profile}, home);
        QVERIFY2(fit.status == 0, fit.err.constData());
        const Done simulated = call(
            {"simulate", "--model", kModel, "--board", profile, "--max-tokens", "6", "--loader",
             "pread", "--json"},
            home);
        QVERIFY2(simulated.status == 0, simulated.err.constData());
        QVERIFY(simulated.json()["timing"].toObject()["total_ms"].toDouble() > 0);
        const Done none = call({"calibrate", "nowhere.sst"}, home);
        QCOMPARE(none.status, 2);
    }

private:
    void theErrorIsToldWithLaterPredictions() {
        const Done done = call(
            {"simulate", "--model", kModel, "--board", "local", "--json"}, QStringLiteral("home"));
        QVERIFY2(done.status == 0, done.err.constData());
        const QJsonObject error = done.json()["timing"].toObject()["error"].toObject();
        QCOMPARE(error["configurations"].toInt(), 5);
        QVERIFY(error["decode_ms_per_token"].toObject()["median"].isDouble());
    }
    void resultsAreImportedOnce(const QByteArray& document) {
        const QString file = written(QStringLiteral("part-1.json"), document);
        const Done first = call({"runs", "import", file}, QStringLiteral("gathering"));
        QVERIFY2(first.status == 0, first.err.constData());
        QCOMPARE(first.out.trimmed(), QByteArray("5 of 5 results are new"));
        const Done again = call({"runs", "import", file, file}, QStringLiteral("gathering"));
        QCOMPARE(again.out.trimmed(), QByteArray("0 of 5 results are new\n0 of 5 results are new"));
    }
};

QTEST_GUILESS_MAIN(TestValidateCli)
#include "tst_validate_cli.moc"
