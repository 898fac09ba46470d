// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "app/replay/run_document.h"
#include "tests/integration/sample_stream.h"

using namespace shardscope;
using app::RunDocument;
using app::RunState;

namespace {

void feed(RunDocument& document, const std::string& bytes) {
    trace::FrameReader reader;
    reader.push(bytes);
    while (const auto frame = reader.next())
        document.addFrame(*frame);
}

QString written(const QTemporaryDir& folder, const std::string& bytes) {
    const QString path = folder.filePath(QStringLiteral("run.sst"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return {};
    file.write(bytes.data(), static_cast<qint64>(bytes.size()));
    return path;
}

} // namespace

class TestRunDocument : public QObject {
    Q_OBJECT
private slots:
    void growsWhileFramesCome() {
        const auto stream = testing::sampleStream();
        RunDocument document;
        document.beginLive();
        QSignalSpy appended(&document, &RunDocument::eventsAppended);
        QSignalSpy texts(&document, &RunDocument::transcriptChanged);
        feed(document, stream.header);
        QCOMPARE(document.modelName(), QStringLiteral("card:whisper-tiny.en"));
        QCOMPARE(
            document.title(),
            QStringLiteral("card:whisper-tiny.en on rk3588-16g-emmc, window.wav"));
        feed(document, stream.chunks[0] + stream.chunks[1] + stream.text);
        QCOMPARE(appended.count(), 2);
        QCOMPARE(appended[1][0].value<qsizetype>(), 64);
        QCOMPARE(document.trace().events.size(), std::size_t{128});
        QCOMPARE(texts.count(), 1);
        QCOMPARE(document.transcript(), QLatin1String(testing::kSampleText));
        QCOMPARE(document.state(), RunState::Running);
    }

    void aWholeStreamIsDoneWithItsFigures() {
        const auto stream = testing::sampleStream();
        RunDocument document;
        document.beginLive();
        feed(document, stream.whole());
        document.endLive();
        QCOMPARE(document.state(), RunState::Done);
        QCOMPARE(document.tokens(), 4);
        QCOMPARE(document.windows(), 1);
        QCOMPARE(document.summary().totalMs, stream.summary.totalMs);
        QVERIFY(document.result().is_object());
    }

    void aStreamThatBreaksIsPartialAndSaysWhy() {
        const auto stream = testing::sampleStream();
        RunDocument document;
        document.beginLive();
        feed(document, stream.cutAfter(2));
        document.endLive(base::Error{base::ErrorCode::Failed, "the agent died", "agent", "again"});
        QCOMPARE(document.state(), RunState::Partial);
        QCOMPARE(document.errorLine(), QStringLiteral("agent: the agent died; again"));
        QCOMPARE(document.trace().events.size(), std::size_t{128});
    }

    void aRunThatNeverBeganHasFailed() {
        RunDocument document;
        document.beginLive();
        document.endLive(base::Error{base::ErrorCode::BadInput, "no model", "m.bin", ""});
        QCOMPARE(document.state(), RunState::Failed);
        QCOMPARE(document.errorLine(), QStringLiteral("m.bin: no model"));
    }

    void refusesASecondRunInOneStream() {
        const auto stream = testing::sampleStream();
        RunDocument document;
        document.beginLive();
        feed(document, stream.header + stream.chunks[0] + stream.header);
        QCOMPARE(document.state(), RunState::Failed);
        QVERIFY(document.errorLine().contains(QStringLiteral("second run")));
    }

    void opensAFileCutAnywhere_data() {
        QTest::addColumn<double>("share");
        for (const double share : {1.0, 0.99, 0.7, 0.4})
            QTest::addRow("%.0f percent", share * 100) << share;
    }
    void opensAFileCutAnywhere() {
        QFETCH(double, share);
        const auto stream = testing::sampleStream();
        std::string bytes = stream.whole();
        const std::size_t head = stream.header.size();
        const auto rest = static_cast<double>(bytes.size() - head);
        bytes.resize(head + static_cast<std::size_t>(rest * share));
        QTemporaryDir folder;
        RunDocument document;
        const base::Status status = document.open(written(folder, bytes));
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().line().c_str());
        QCOMPARE(document.state(), share == 1.0 ? RunState::Done : RunState::Partial);
        QVERIFY(!document.trace().events.empty());
    }

    void refusesWhatIsNoRecording_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("text") << QByteArray("hello\n");
        QTest::newRow("magic alone") << QByteArray("SSF1");
        QTest::newRow("zeros") << QByteArray(4096, '\0');
    }
    void refusesWhatIsNoRecording() {
        QFETCH(QByteArray, bytes);
        QTemporaryDir folder;
        RunDocument document;
        const base::Status status = document.open(written(folder, bytes.toStdString()));
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, base::ErrorCode::BadInput);
        QVERIFY(!status.error().mend.empty());
        QCOMPARE(document.state(), RunState::Empty);
    }
};

QTEST_GUILESS_MAIN(TestRunDocument)
#include "tst_run_document.moc"
