// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <cstring>
#include <memory>

#include "device_agent/probes/process_memory.h"
#include "tests/unit/fake_tree.h"

using namespace shardscope;
using namespace shardscope::probes;
using base::Bytes;

namespace {

/// A tree of files as the kernel would show them.
class FakeKernel : public test::FakeTree {
public:
    KernelRoots roots() const {
        const std::string root = folder();
        return {root + "/self", root + "/meminfo", root + "/cgroup"};
    }
};

std::int64_t valueOf(std::optional<Bytes> bytes) {
    return bytes ? bytes->value : -1;
}

} // namespace

class TestProcessMemory : public QObject {
    Q_OBJECT

private slots:
    void seesMemoryThatIsTouched() {
        const ProcessMemory memory = ProcessMemory::open();
        const std::int64_t before = valueOf(memory.rss());
        QVERIFY(before > 0);
        constexpr std::size_t kBytes = std::size_t{64} << 20;
        const std::unique_ptr<char[]> block(new char[kBytes]);
        std::memset(block.get(), 1, kBytes);
        const std::int64_t slack = 4 << 20;
        QVERIFY(valueOf(memory.rss()) >= before + static_cast<std::int64_t>(kBytes) - slack);
        QVERIFY(valueOf(memory.pss()) >= static_cast<std::int64_t>(kBytes) - slack);
        QVERIFY(valueOf(memory.peakRss()) >= valueOf(memory.rss()) - slack);
    }

    void tellsTheMemoryOfTheSystem() {
        const ProcessMemory memory = ProcessMemory::open();
        QVERIFY(memory.ramTotal() >= base::mebibytes(16));
        QVERIFY(valueOf(memory.freeRam()) > 0);
        QVERIFY(*memory.freeRam() <= memory.ramTotal());
        QVERIFY(valueOf(memory.pageCache()) >= 0);
        if (memory.cgroupLimit())
            QVERIFY(memory.ramTotal() <= *memory.cgroupLimit());
    }

    void countsWhatTheStorageWasRead() {
        const ProcessMemory memory = ProcessMemory::open();
        if (!memory.ioBytes())
            QSKIP("this kernel does not account for I/O");
        const std::int64_t before = valueOf(memory.ioBytes());
        QVERIFY(before >= 0);
        QVERIFY(valueOf(memory.ioBytes()) >= before);
    }

    void saysNothingWhereTheKernelIsSilent() {
        const FakeKernel kernel;
        const ProcessMemory memory = ProcessMemory::open(kernel.roots());
        QVERIFY(!memory.rss() && !memory.pss() && !memory.peakRss() && !memory.ioBytes());
        QVERIFY(!memory.pageCache() && !memory.freeRam() && !memory.cgroupLimit());
        QCOMPARE(memory.ramTotal().value, 0);
    }

    void readsTheFilesOfAProcess() {
        const FakeKernel kernel;
        kernel.write("self/statm", "900 300 100 5 0 123 0\n");
        kernel.write("self/smaps_rollup", "55c1c57ff000-7fff [rollup]\nRss: 9 kB\nPss:   7 kB\n");
        kernel.write("self/status", "Name:\tx\nVmHWM:\t    2048 kB\n");
        kernel.write("self/io", "rchar: 5\nread_bytes: 4096\ncancelled_write_bytes: 0\n");
        const ProcessMemory memory = ProcessMemory::open(kernel.roots());
        QCOMPARE(valueOf(memory.rss()), 300 * ::sysconf(_SC_PAGESIZE));
        QCOMPARE(valueOf(memory.pss()), 7 << 10);
        QCOMPARE(valueOf(memory.peakRss()), 2 << 20);
        QCOMPARE(valueOf(memory.ioBytes()), 4096);
    }

    void takesTheLowestLimitAboveTheProcess_data() {
        QTest::addColumn<QByteArray>("table");
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("limitFile");
        QTest::addColumn<QString>("usageFile");
        QTest::addColumn<QByteArray>("stat");
        QTest::newRow("version 1")
            << QByteArray("5:cpu:/\n4:memory:/outer/inner\n0::/\n") << "cgroup/memory"
            << "memory.limit_in_bytes"
            << "memory.usage_in_bytes"
            << QByteArray("cache 1\ntotal_cache 700\ntotal_inactive_file 50\n");
        QTest::newRow("version 2")
            << QByteArray("0::/outer/inner\n") << "cgroup"
            << "memory.max"
            << "memory.current" << QByteArray("anon 1\nfile 700\ninactive_file 50\n");
    }
    void takesTheLowestLimitAboveTheProcess() {
        QFETCH(QByteArray, table);
        QFETCH(QString, folder);
        QFETCH(QString, limitFile);
        QFETCH(QString, usageFile);
        QFETCH(QByteArray, stat);
        const FakeKernel kernel;
        kernel.write("self/cgroup", table);
        kernel.write("meminfo", "MemTotal: 100 kB\nMemAvailable:  90 kB\nCached: 80 kB\n");
        const bool isV2 = limitFile == "memory.max";
        kernel.write(
            folder + "/outer/inner/" + limitFile, isV2 ? "max\n" : "9223372036854771712\n");
        kernel.write(folder + "/outer/" + limitFile, "5000\n");
        kernel.write(folder + "/" + limitFile, "6000\n");
        kernel.write(folder + "/outer/" + usageFile, "1000\n");
        kernel.write(folder + "/outer/memory.stat", stat);
        const ProcessMemory memory = ProcessMemory::open(kernel.roots());
        QCOMPARE(valueOf(memory.cgroupLimit()), 5000);
        QCOMPARE(memory.ramTotal().value, 5000);
        QCOMPARE(valueOf(memory.pageCache()), 700);
        QCOMPARE(valueOf(memory.freeRam()), 4050);
    }

    void asksTheSystemWhereNoGroupLimits() {
        const FakeKernel kernel;
        kernel.write("self/cgroup", "0::/somewhere/not/mounted\n");
        kernel.write("meminfo", "MemTotal: 100 kB\nMemAvailable:  90 kB\nCached: 80 kB\n");
        const ProcessMemory memory = ProcessMemory::open(kernel.roots());
        QVERIFY(!memory.cgroupLimit());
        QCOMPARE(memory.ramTotal().value, 100 << 10);
        QCOMPARE(valueOf(memory.freeRam()), 90 << 10);
        QCOMPARE(valueOf(memory.pageCache()), 80 << 10);
    }
};

QTEST_GUILESS_MAIN(TestProcessMemory)
#include "tst_process_memory.moc"
