// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/mman.h>

#include <QtTest>

#include <nlohmann/json.hpp>

#include "device_agent/probes/kernel_rates.h"
#include "device_agent/probes/machine_facts.h"
#include "device_agent/probes/mount_facts.h"
#include "device_agent/probes/probe.h"
#include "device_agent/probes/rate_board.h"
#include "device_agent/probes/read_meter.h"
#include "device_agent/probes/test_file.h"

using namespace shardscope;
using namespace shardscope::probes;
using plan::KernelClass;
using plan::ReadPath;

class TestProbe : public QObject {
    Q_OBJECT

    static constexpr std::size_t kFile = std::size_t{8} << 20;

    static void write(const QString& path, const QByteArray& text) {
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }

private slots:
    void measuresAProfileThatReadsBack() {
        const QTemporaryDir folder;
        QStringList told;
        const auto board = probe({folder.path().toStdString(), true, [&](const std::string& words) {
                                      told.append(QString::fromStdString(words));
                                  }});
        QVERIFY2(board.ok(), board ? "" : board.error().line().c_str());
        const auto again = plan::profileFromJson(plan::toJson(*board));
        QVERIFY2(again.ok(), again ? "" : again.error().line().c_str());
        plan::BoardProfile filled = *board;
        plan::fillDerived(filled);
        QVERIFY(plan::toJson(*again) == plan::toJson(filled));
        QVERIFY(board->hasReads(ReadPath::Cached));
        QVERIFY(!board->machine.kernel.empty() && !board->machine.clusters.empty());
        QVERIFY(board->noise && !board->noise->words.empty());
        QCOMPARE(board->threadScaling.back().threads, board->fastCores);
        QVERIFY(told.size() >= 4);
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 0);
    }

    /// A kernel's rate does not depend on how it was asked: what a longer look finds is the same.
    void streamedWeightsAreNoFasterThanCachedOnes() {
        KernelRates kernels(1, std::size_t{64} << 20);
        engine::kernels::ThreadPool one(1);
        const Work cached = kernels.matvec(one, model::DType::F32, 1, false);
        const Work streamed = kernels.matvec(one, model::DType::F32, 1, true);
        QVERIFY(cached.rate() > 0 && streamed.rate() > 0);
        QVERIFY(streamed.operations > 10 * cached.operations);
        QVERIFY(
            kernels.matvec(one, model::DType::Q4_0, 4, false).operations == 4 * cached.operations);
    }

    void aFileInMemoryIsNoDevice() {
        if (!QFileInfo("/dev/shm").isWritable())
            QSKIP("no file system in memory here");
        const auto file = TestFile::create("/dev/shm", kFile, 1);
        QVERIFY2(file.ok(), file ? "" : file.error().line().c_str());
        QVERIFY(file->isInMemory());
        ReadMeter meter(*file);
        QVERIFY(!meter.measure(ReadPath::Direct, 65536, 1, 0.01));
        QVERIFY(!meter.measure(ReadPath::Buffered, 65536, 1, 0.01));
        QVERIFY(meter.measure(ReadPath::Cached, 65536, 1, 0.01));
        const auto points = meter.points();
        QCOMPARE(points.size(), std::size_t{1});
        QVERIFY(points[0].p99Ns >= points[0].p50Ns && points[0].bytesPerSecond > 0);
    }

    /// On a file system in memory nothing is told of a device, and the profile says why.
    void leavesOutWhatThePageCacheServed() {
        if (!QFileInfo("/dev/shm").isWritable())
            QSKIP("no file system in memory here");
        const auto board = probe({"/dev/shm", true, {}});
        QVERIFY2(board.ok(), board ? "" : board.error().line().c_str());
        QVERIFY(board->hasReads(ReadPath::Cached));
        QVERIFY(!board->hasReads(ReadPath::Direct) && !board->hasReads(ReadPath::Buffered));
        QVERIFY(!board->mappedBytesPerSecond && !board->populatedBytesPerSecond);
        QVERIFY(board->storage.find("not measured") != std::string::npos);
        QVERIFY(board->sources.size() >= 2);
    }

    /// Pages that another map holds cannot be dropped, and so what is read of them is no read of a
    /// device.
    void doesNotTakeThePageCacheForADisk() {
        const auto file = TestFile::create(QDir::tempPath().toStdString(), kFile, 1);
        QVERIFY2(file.ok(), file ? "" : file.error().line().c_str());
        file->warmCache();
        QVERIFY(file->residentShare() > 0.98);
        void* const held =
            ::mmap(nullptr, kFile, PROT_READ, MAP_SHARED | MAP_POPULATE, file->descriptor(), 0);
        QVERIFY(held != MAP_FAILED);
        const bool isCold = file->dropCache();
        ReadMeter meter(*file);
        QCOMPARE(meter.measure(ReadPath::Buffered, 65536, 1, 0.01), isCold);
        ::munmap(held, kFile);
        QVERIFY(!isCold);
    }

    void namesAFolderThatCannotBeWritten() {
        const auto board = probe({"/nowhere/at/all", true, {}});
        QVERIFY(!board.ok());
        QVERIFY(board.error().code == base::ErrorCode::Failed);
        QCOMPARE(QString::fromStdString(board.error().where), QString("/nowhere/at/all"));
    }

    void theBestRoundCounts() {
        Rounds rounds;
        QVERIFY(rounds.empty());
        QCOMPARE(rounds.spread(), 0.0);
        for (const double s : {3.0, 2.0, 2.2})
            rounds.add(s);
        QCOMPARE(rounds.best(), 2.0);
        QVERIFY(qAbs(rounds.spread() - 0.1) < 1e-9);
        Rounds twice;
        for (const double s : {6.0, 8.0, 4.4})
            twice.add(s);
        QCOMPARE(twice.medianAgainst(rounds), 2.0);
        RateBoard rates;
        const plan::KernelKey key{KernelClass::MatVec, model::DType::Q8_0};
        rates.add(key, true, 100, 2);
        rates.add(key, true, 100, 1);
        QCOMPARE(rates.rate(key, true), 100.0);
        QCOMPARE(rates.rate(key, false), 0.0);
        plan::BoardProfile board;
        rates.writeTo(board);
        QCOMPARE(board.kernels[4][2].streamed, 100.0);
        QCOMPARE(rates.spread(), 1.0);
    }

    void tellsClustersAndCaches() {
        const QTemporaryDir folder;
        QByteArray cpuinfo;
        for (int core = 0; core < 8; ++core) {
            const QString at =
                folder.filePath(QStringLiteral("devices/system/cpu/cpu%1/").arg(core));
            write(at + "cpufreq/cpuinfo_max_freq", core < 4 ? "1800000\n" : "2304000\n");
            cpuinfo += "processor\t: " + QByteArray::number(core) +
                       "\nCPU part\t: " + (core < 4 ? "0xd05" : "0xd0b") + "\n\n";
        }
        write(folder.filePath("cpuinfo"), cpuinfo);
        write(folder.filePath("devices/system/cpu/cpu0/cache/index0/size"), "32K\n");
        write(folder.filePath("devices/system/cpu/cpu0/cache/index3/size"), "3072K\n");
        const auto facts =
            machineFacts(folder.path().toStdString(), folder.filePath("cpuinfo").toStdString());
        QCOMPARE(facts.clusters.size(), std::size_t{2});
        QCOMPARE(QString::fromStdString(facts.clusters[0].name), QString("Cortex-A55"));
        QCOMPARE(facts.clusters[0].cores, 4);
        QCOMPARE(facts.clusters[1].mhz, 2304);
        QCOMPARE(QString::fromStdString(facts.clusters[1].name), QString("Cortex-A76"));
        QCOMPARE(facts.cacheBytes, base::kibibytes(3072));
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

QTEST_GUILESS_MAIN(TestProbe)
#include "tst_probe.moc"
