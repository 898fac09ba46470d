// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>
#include <utility>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QtTest>

#include "app/remote/board_source.h"
#include "app/store/run_store.h"
#include "tests/integration/sample_stream.h"

using namespace shardscope;
using app::DataPaths;
using app::RunContent;
using app::RunRecord;
using app::RunState;
using app::RunStore;
using app::RunWriter;

namespace {

std::unique_ptr<RunStore> opened(const QString& root) {
    auto store = RunStore::open(DataPaths{root});
    if (!store)
        qFatal("%s", store.error().line().c_str());
    return std::move(*store);
}

RunContent contentOf(const std::string& bytes) {
    RunContent content;
    trace::FrameReader reader;
    reader.push(bytes);
    while (const auto frame = reader.next())
        if (const base::Status status = content.add(*frame); !status)
            qFatal("%s", status.error().line().c_str());
    return content;
}

QString keepRun(RunStore& store, const std::string& bytes) {
    RunRecord record;
    record.audio = QStringLiteral("talk.mp3");
    auto writer = store.begin(record);
    if (!writer)
        qFatal("%s", writer.error().line().c_str());
    (void)(*writer)->append(bytes.data(), static_cast<qint64>(bytes.size()));
    (void)(*writer)->close();
    if (const auto status = store.finish(record.uuid, contentOf(bytes), {}); !status)
        qFatal("%s", status.error().line().c_str());
    return record.uuid;
}

/// What the child does: writes a run up to its middle, says so, and waits to be killed.
int writeAndWait(const QString& root) {
    auto store = opened(root);
    RunRecord record;
    auto writer = store->begin(record);
    const std::string bytes = testing::sampleStream().cutAfter(3);
    if (!writer || !(*writer)->append(bytes.data(), static_cast<qint64>(bytes.size())))
        return 1;
    std::fputs("written\n", stdout);
    std::fflush(stdout);
    (void)std::getchar();
    return 0;
}

} // namespace

class TestRunStore : public QObject {
    Q_OBJECT
private slots:
    void keepsARunAndItsFigures() {
        QTemporaryDir folder;
        const auto stream = testing::sampleStream();
        const QString id = keepRun(*opened(folder.path()), stream.whole());
        auto store = opened(folder.path());
        auto run = store->run(id.left(6));
        QVERIFY(run.ok());
        QCOMPARE(run->uuid, id);
        QCOMPARE(run->state, RunState::Done);
        QCOMPARE(run->board, QStringLiteral("rk3588-16g-emmc"));
        QCOMPARE(run->audio, QStringLiteral("talk.mp3"));
        QCOMPARE(run->text, QStringLiteral("open the window"));
        QCOMPARE(run->tokens, 4);
        QCOMPARE(run->peakBytes, stream.summary.arenaPeak);
        QCOMPARE(run->budgetBytes, base::mebibytes(48).value);
        QCOMPARE(run->msPerToken, stream.summary.decodeMsPerToken);
        QCOMPARE(run->planHash.toStdString(), stream.plan->hashText());
        auto content = app::readRunFile(store->recordingOf(*run).toStdString());
        QVERIFY(content.ok());
        QCOMPARE(content->trace().events.size(), stream.trace.events.size());
    }

    void keepsNotesOnRangesUntilTheRunGoes() {
        QTemporaryDir folder;
        auto store = opened(folder.path());
        const QString id = keepRun(*store, testing::sampleStream().whole());
        const QList<app::RangeNote> notes = {
            {base::Nanos(10), base::Nanos(20), QStringLiteral("late load")},
            {base::Nanos(30), base::Nanos(30), QStringLiteral("a moment")}};
        QVERIFY(store->setRangeNotes(id, {notes[1], notes[0]}).ok());
        store = opened(folder.path());
        QCOMPARE(*store->rangeNotes(id), notes);
        QVERIFY(!store->setRangeNotes(QStringLiteral("no such run"), notes).ok());
        QVERIFY(store->remove(id).ok());
        QVERIFY(store->rangeNotes(id)->isEmpty());
    }

    void keepsWhatPeopleAddToARun() {
        QTemporaryDir folder;
        auto store = opened(folder.path());
        const QString id = keepRun(*store, testing::sampleStream().whole());
        QSignalSpy changed(store.get(), &RunStore::runsChanged);
        QVERIFY(store->setNotes(id, QStringLiteral("after the new flash")).ok());
        QVERIFY(store->setStarred(id, true).ok());
        QVERIFY(store
                    ->setTags(
                        id, {QStringLiteral(" slow  flash "), QStringLiteral("a"),
                             QStringLiteral("a"), QString()})
                    .ok());
        QVERIFY(store->setThumbnail(id, QByteArray("\x89PNG\0x", 6)).ok());
        QCOMPARE(changed.count(), 4);
        auto run = opened(folder.path())->run(id);
        QVERIFY(run.ok());
        QCOMPARE(run->notes, QStringLiteral("after the new flash"));
        QVERIFY(run->starred);
        QCOMPARE(run->tags, (QStringList{QStringLiteral("a"), QStringLiteral("slow flash")}));
        QCOMPARE(run->thumbnail, QByteArray("\x89PNG\0x", 6));
    }

    void aKilledWriterLeavesAPartialRun() {
        QTemporaryDir folder;
        QProcess child;
        child.start(
            QCoreApplication::applicationFilePath(),
            {QStringLiteral("--write-and-wait"), folder.path()});
        QVERIFY(child.waitForReadyRead(30000));
        QCOMPARE(child.readLine(), QByteArray("written\n"));
        {
            // Another window that opens while the run goes on must not call it dead.
            auto runs = opened(folder.path())->runs();
            QVERIFY(runs.ok());
            QCOMPARE(runs->size(), 1);
            QCOMPARE(runs->first().state, RunState::Running);
            QVERIFY(!opened(folder.path())->remove(runs->first().uuid).ok());
        }
        child.kill();
        QVERIFY(child.waitForFinished(10000));
        auto store = opened(folder.path());
        auto runs = store->runs();
        QVERIFY(runs.ok());
        QCOMPARE(runs->size(), 1);
        QCOMPARE(runs->first().state, RunState::Partial);
        QVERIFY(!runs->first().errorLine.isEmpty());
        QCOMPARE(runs->first().model, QStringLiteral("card:whisper-tiny.en"));
        auto content = app::readRunFile(store->recordingOf(runs->first()).toStdString());
        QVERIFY(content.ok());
        QCOMPARE(content->trace().events.size(), std::size_t{192});
        // And the store goes on working.
        keepRun(*store, testing::sampleStream().whole());
        QCOMPARE(store->runs()->size(), 2);
    }

    void aRowWithoutAFileIsPartial() {
        QTemporaryDir folder;
        RunRecord record;
        {
            auto store = opened(folder.path());
            QVERIFY(store->begin(record).ok());
        }
        QVERIFY(QFile::remove(DataPaths{folder.path()}.recording(record.uuid)));
        auto run = opened(folder.path())->run(record.uuid);
        QVERIFY(run.ok());
        QCOMPARE(run->state, RunState::Partial);
    }

    void recordingsOutliveTheDatabase() {
        QTemporaryDir folder;
        const QString id = keepRun(*opened(folder.path()), testing::sampleStream().whole());
        for (const char* suffix : {"", "-wal", "-shm"})
            QFile::remove(DataPaths{folder.path()}.database() + QLatin1String(suffix));
        auto run = opened(folder.path())->run(id);
        QVERIFY(run.ok());
        QCOMPARE(run->state, RunState::Done);
        QCOMPARE(run->tokens, 4);
    }

    void importCopiesARecording() {
        QTemporaryDir folder;
        auto store = opened(folder.path());
        const QString path = folder.filePath(QStringLiteral("elsewhere.sst"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        const std::string bytes = testing::sampleStream().whole();
        file.write(bytes.data(), static_cast<qint64>(bytes.size()));
        file.close();
        auto id = store->import(path);
        QVERIFY(id.ok());
        QCOMPARE(store->run(*id)->state, RunState::Done);
        QVERIFY(!store->import(folder.filePath(QStringLiteral("absent.sst"))).ok());
        QCOMPARE(store->runs()->size(), 1);
    }

    void removesRowAndRecording() {
        QTemporaryDir folder;
        auto store = opened(folder.path());
        const QString id = keepRun(*store, testing::sampleStream().whole());
        QVERIFY(store->setTags(id, {QStringLiteral("x")}).ok());
        QVERIFY(store->remove(id).ok());
        QVERIFY(store->runs()->isEmpty());
        QVERIFY(!QFile::exists(DataPaths{folder.path()}.recording(id)));
        QVERIFY(opened(folder.path())->runs()->isEmpty());
    }

    void idsAreToldApart() {
        QTemporaryDir folder;
        auto store = opened(folder.path());
        keepRun(*store, testing::sampleStream().whole());
        for (const char* wrong : {"", "%", "_", "zz", "' OR 1=1 --"})
            QCOMPARE(store->run(QLatin1String(wrong)).error().code, base::ErrorCode::Usage);
    }

    void aDamagedDatabaseIsOneClearError_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("text") << QByteArray("this is no database, it is a letter\n").repeated(200);
        QByteArray torn("SQLite format 3\0", 16);
        QTest::newRow("torn header") << torn + QByteArray(4096, '\xff');
    }
    void aDamagedDatabaseIsOneClearError() {
        QFETCH(QByteArray, bytes);
        QTemporaryDir folder;
        QFile file(DataPaths{folder.path()}.database());
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        file.close();
        auto store = RunStore::open(DataPaths{folder.path()});
        QVERIFY(!store.ok());
        QCOMPARE(store.error().code, base::ErrorCode::BadInput);
        QVERIFY2(
            store.error().line().find("move this file away") != std::string::npos,
            store.error().line().c_str());
    }

    void aNewerDatabaseIsLeftAlone() {
        QTemporaryDir folder;
        opened(folder.path());
        {
            auto db = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("t"));
            db.setDatabaseName(DataPaths{folder.path()}.database());
            QVERIFY(db.open());
            QVERIFY(QSqlQuery(db).exec(QStringLiteral("PRAGMA user_version = 99")));
            db.close();
        }
        QSqlDatabase::removeDatabase(QStringLiteral("t"));
        auto store = RunStore::open(DataPaths{folder.path()});
        QVERIFY(!store.ok());
        QVERIFY(store.error().what.find("newer") != std::string::npos);
    }

    void aFolderThatCannotBeMadeIsOneClearError() {
        QTemporaryDir folder;
        QFile file(folder.filePath(QStringLiteral("file")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        auto store = RunStore::open(DataPaths{folder.filePath(QStringLiteral("file/data"))});
        QVERIFY(!store.ok());
        QCOMPARE(store.error().code, base::ErrorCode::Failed);
        QVERIFY(!store.error().mend.empty());
    }

    void keepsBoards() {
        QTemporaryDir folder;
        plan::BoardProfile board = app::presetBoard(QStringLiteral("v851s-512m-nand")).value();
        board.name = "bench";
        {
            auto store = opened(folder.path());
            QVERIFY(store->saveBoard(board).ok());
            board.cores = 2;
            QVERIFY(store->saveBoard(board).ok());
        }
        auto store = opened(folder.path());
        QCOMPARE(store->boards()->size(), 1);
        QCOMPARE((*store->board(QStringLiteral("bench")))->profile.cores, 2);
        QVERIFY(!store->board(QStringLiteral("other"))->has_value());
    }

    void keepsHowBoardsAreReached() {
        QTemporaryDir folder;
        app::RemoteBoard board;
        board.name = QStringLiteral("bench");
        board.address = QStringLiteral("pi@10.0.0.7:2222");
        {
            auto store = opened(folder.path());
            QVERIFY(store->saveRemoteBoard(board).ok());
            board.state = QStringLiteral("ready");
            board.doctor = QStringLiteral(R"({"findings": []})");
            board.lastSeen = QDateTime::fromMSecsSinceEpoch(1'700'000'000'000);
            QVERIFY(store->saveRemoteBoard(board).ok());
        }
        auto store = opened(folder.path());
        QCOMPARE(store->remoteBoards()->size(), 1);
        const auto kept = store->remoteBoard(QStringLiteral("bench"));
        QVERIFY(kept.ok() && kept->has_value());
        QCOMPARE((*kept)->address, board.address);
        QCOMPARE((*kept)->state, board.state);
        QCOMPARE((*kept)->doctor, board.doctor);
        QCOMPARE((*kept)->lastSeen, board.lastSeen);
        QVERIFY(store->removeRemoteBoard(QStringLiteral("bench")).ok());
        QVERIFY(!store->removeRemoteBoard(QStringLiteral("bench")).ok());
        QVERIFY(store->remoteBoards()->isEmpty());
    }
};

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = application.arguments();
    if (words.size() == 3 && words[1] == QLatin1String("--write-and-wait"))
        return writeAndWait(words[2]);
    TestRunStore test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_run_store.moc"
