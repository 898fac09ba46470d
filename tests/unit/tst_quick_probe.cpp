// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <nlohmann/json.hpp>

#include "device_agent/probes/mount_facts.h"
#include "device_agent/probes/quick_probe.h"
#include "device_agent/probes/storage_rates.h"

using namespace shardscope;
using namespace shardscope::probes;

class TestQuickProbe : public QObject {
    Q_OBJECT

private slots:
    void measuresAProfileThatReadsBack() {
        const QTemporaryDir folder;
        const auto board = quickProbe(folder.path().toStdString());
        QVERIFY2(board.ok(), board ? "" : board.error().line().c_str());
        const auto document = plan::toJson(*board);
        const auto again = plan::profileFromJson(document);
        QVERIFY2(again.ok(), again ? "" : again.error().line().c_str());
        QVERIFY(plan::toJson(*again) == document);
    }

    void leavesNothingBehind() {
        const QTemporaryDir folder;
        engine::kernels::ThreadPool pool(1);
        QVERIFY(measureStorage(folder.path().toStdString(), pool).ok());
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 0);
    }

    void doesNotTakeThePageCacheForADisk() {
        if (!QFileInfo("/dev/shm").isWritable())
            QSKIP("no file system in memory here");
        engine::kernels::ThreadPool pool(1);
        const auto rates = measureStorage("/dev/shm", pool);
        QVERIFY2(rates.ok(), rates ? "" : rates.error().line().c_str());
        QCOMPARE(rates->device.bytesPerSecond, 0.0);
        QVERIFY2(rates->words.find("not measured") != std::string::npos, rates->words.c_str());
        QVERIFY(rates->cached.bytesPerSecond > 0);
    }

    void namesAFolderThatCannotBeWritten() {
        const auto board = quickProbe("/nowhere/at/all");
        QVERIFY(!board.ok());
        QVERIFY(board.error().code == base::ErrorCode::Failed);
        QCOMPARE(QString::fromStdString(board.error().where), QString("/nowhere/at/all"));
    }

    void tellsTheFileSystem_data() {
        QTest::addColumn<unsigned>("minor");
        QTest::addColumn<QString>("words");
        QTest::newRow("a disk") << 1u << "ext4 on /dev/vda1";
        QTest::newRow("in memory") << 2u << "tmpfs";
        QTest::newRow("unknown") << 3u << "";
    }
    void tellsTheFileSystem() {
        QFETCH(unsigned, minor);
        QFETCH(QString, words);
        const char* const table = "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
                                  "23 22 254:2 / /dev/shm rw - tmpfs tmpfs rw\n";
        QCOMPARE(QString::fromStdString(mountWords(table, 254, minor)), words);
    }
};

QTEST_GUILESS_MAIN(TestQuickProbe)
#include "tst_quick_probe.moc"
