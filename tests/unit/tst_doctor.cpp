// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <algorithm>

#include "device_agent/probes/board_state.h"
#include "device_agent/probes/doctor.h"
#include "tests/unit/fake_tree.h"

using namespace shardscope;
using namespace shardscope::probes;

namespace {

/// A tree of files as the kernel of some board would show them.
class FakeBoard : public test::FakeTree {
public:
    SystemRoots roots() const {
        const std::string root = folder();
        return {root + "/proc", root + "/sys", root + "/sys/fs/cgroup"};
    }
    std::vector<Finding> examined(std::optional<base::Bytes> arena = {}) const {
        return examine({folder(), arena, base::mebibytes(6)}, roots());
    }
};

const Finding* named(const std::vector<Finding>& findings, const char* check) {
    const auto found = std::find_if(
        findings.begin(), findings.end(), [&](const Finding& f) { return f.check == check; });
    return found == findings.end() ? nullptr : &*found;
}

} // namespace

class TestDoctor : public QObject {
    Q_OBJECT

private slots:
    void seesWhatHurtsARun_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("check");
        QTest::addColumn<int>("severity");
        const auto row = [](const char* name, const char* file, const char* text, const char* check,
                            Severity severity) {
            QTest::newRow(name) << file << QByteArray(text) << QByteArray(check) << int(severity);
        };
        const char* const kMemory = "MemTotal: 524288 kB\nMemAvailable: 300000 kB\n";
        row("no swap", "proc/meminfo", kMemory, "swap", Severity::Good);
        row("swap", "proc/meminfo",
            "MemTotal: 524288 kB\nMemAvailable: 300000 kB\nSwapTotal: 65536 kB\nSwapFree: 1 kB\n",
            "swap", Severity::Warning);
        row("strict overcommit", "proc/sys/vm/overcommit_memory", "2\n", "overcommit",
            Severity::Warning);
        row("usual overcommit", "proc/sys/vm/overcommit_memory", "0\n", "overcommit",
            Severity::Good);
        const char* const kHuge = "sys/kernel/mm/transparent_hugepage/enabled";
        row("huge pages always", kHuge, "[always] madvise never\n", "huge_pages", Severity::Note);
        row("huge pages on advice", kHuge, "always [madvise] never\n", "huge_pages",
            Severity::Good);
        const char* const kGovernor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        row("ondemand", kGovernor, "ondemand\n", "governor", Severity::Warning);
        row("performance", kGovernor, "performance\n", "governor", Severity::Good);
        const char* const kZone = "sys/class/thermal/thermal_zone0/temp";
        row("hot", kZone, "81500\n", "temperature", Severity::Warning);
        row("cool", kZone, "42000\n", "temperature", Severity::Good);
        row("a sensor that is not there", kZone, "-274000000\n", "temperature", Severity::Note);
        row("busy", "proc/loadavg", "999.5 1 1 1/100 5\n", "load", Severity::Warning);
        row("idle", "proc/loadavg", "0.00 0 0 1/100 5\n", "load", Severity::Good);
        const char* const kPressure = "proc/pressure/memory";
        row("pressed", kPressure, "some avg10=12.50 avg60=1 total=5\nfull avg10=0.00\n",
            "memory_pressure", Severity::Warning);
        row("not pressed", kPressure, "some avg10=0.00 avg60=0 total=5\nfull avg10=0.00\n",
            "memory_pressure", Severity::Good);
        row("no account of pressure", "proc/x", "", "memory_pressure", Severity::Note);
        row("nonsense of pressure", kPressure, "some avg10=nan", "memory_pressure", Severity::Note);
    }
    void seesWhatHurtsARun() {
        QFETCH(QString, file);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, check);
        QFETCH(int, severity);
        const FakeBoard board;
        board.write(file, text);
        const auto findings = board.examined();
        const Finding* f = named(findings, check.constData());
        QVERIFY(f);
        QCOMPARE(int(f->severity), severity);
        QVERIFY(!f->what.empty());
        QVERIFY(f->severity < Severity::Warning || !f->mend.empty());
    }

    void aRunThatDoesNotFitIsAProblemAndTheMendIsABudget() {
        const FakeBoard board;
        board.write("proc/meminfo", "MemTotal: 65536 kB\nMemAvailable: 40960 kB\n");
        const auto fits = board.examined(base::mebibytes(30));
        QCOMPARE(int(named(fits, "memory")->severity), int(Severity::Good));
        const auto large = board.examined(base::mebibytes(35));
        QCOMPARE(int(named(large, "memory")->severity), int(Severity::Problem));
        QVERIFY(named(large, "memory")->mend.find("--budget 34MiB") != std::string::npos);
    }

    void theLimitOfACgroupCounts() {
        const FakeBoard board;
        board.write("proc/meminfo", "MemTotal: 524288 kB\nMemAvailable: 400000 kB\n");
        board.write("proc/self/cgroup", "0::/run\n");
        board.write("sys/fs/cgroup/run/memory.max", "33554432\n");
        board.write("sys/fs/cgroup/run/memory.current", "1048576\n");
        board.write("sys/fs/cgroup/run/memory.stat", "file 0\ninactive_file 0\n");
        const auto findings = board.examined(base::mebibytes(48));
        QCOMPARE(int(named(findings, "memory")->severity), int(Severity::Problem));
        QVERIFY(named(findings, "memory")->what.find("cgroup") != std::string::npos);
    }

    void tellsHeatClockAndSwapWhileARunGoesOn() {
        const FakeBoard board;
        board.write("sys/class/thermal/thermal_zone0/temp", "41000\n");
        board.write("sys/class/thermal/thermal_zone3/temp", "52500\n");
        const char* const kSlow = "sys/devices/system/cpu/cpu0/cpufreq/";
        const char* const kFast = "sys/devices/system/cpu/cpu4/cpufreq/";
        board.write(QString(kSlow) + "cpuinfo_max_freq", "1800000\n");
        board.write(QString(kSlow) + "scaling_cur_freq", "1800000\n");
        board.write(QString(kFast) + "cpuinfo_max_freq", "2400000\n");
        board.write(QString(kFast) + "scaling_cur_freq", "1608000\n");
        board.write(QString(kFast) + "scaling_governor", "ondemand\n");
        board.write("proc/meminfo", "MemTotal: 9 kB\nSwapTotal: 1000 kB\nSwapFree: 400 kB\n");
        const auto state = BoardState::open(board.roots().proc, board.roots().sys);
        QCOMPARE(*state.heatMilliCelsius(), std::int64_t{52500});
        QCOMPARE(*state.clockKhz(), std::int64_t{1608000});
        QCOMPARE(state.swapUsed()->value, std::int64_t{600 * 1024});
        QCOMPARE(state.governor(), std::string("ondemand"));
        const auto none = BoardState::open(board.folder() + "/x", board.folder() + "/x");
        QVERIFY(!none.heatMilliCelsius() && !none.clockKhz() && !none.swapUsed());
    }

    void namesTheFastCluster() {
        const FakeBoard board;
        for (int core = 0; core < 8; ++core)
            board.write(
                QStringLiteral("sys/devices/system/cpu/cpu%1/cpu_capacity").arg(core),
                core < 4 ? "414\n" : "1024\n");
        const auto findings = board.examined();
        QCOMPARE(int(named(findings, "clusters")->severity), int(Severity::Note));
        QVERIFY(named(findings, "clusters")->mend.find("--threads at 4") != std::string::npos);
    }

    void judgesTheMountOfTheFolder_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<int>("severity");
        const auto row = [](const char* name, const char* line, Severity severity) {
            QTest::newRow(name) << QByteArray(line) << int(severity);
        };
        row("noatime", "36 35 8:1 / / rw,noatime - ext4 /dev/sda1 rw", Severity::Good);
        row("relatime", "36 35 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw", Severity::Good);
        row("every access is written", "36 35 8:1 / / rw - ext4 /dev/sda1 rw", Severity::Note);
        row("sync", "36 35 8:1 / / rw,sync,noatime - ext4 /dev/sda1 rw", Severity::Warning);
        row("network", "36 35 8:1 / / rw,noatime - nfs4 host:/x rw", Severity::Warning);
        row("memory", "36 35 8:1 / / rw,noatime - tmpfs tmpfs rw", Severity::Warning);
        row("another device", "36 35 8:2 / / rw,sync - ext4 /dev/sda1 rw", Severity::Note);
        row("cut off", "36 35 8:1 / /", Severity::Note);
        row("nothing", "", Severity::Note);
    }
    void judgesTheMountOfTheFolder() {
        QFETCH(QByteArray, line);
        QFETCH(int, severity);
        QCOMPARE(int(judgeMount(line.toStdString(), 8, 1).severity), severity);
    }

    void aFolderThatCannotBeWrittenIsAProblem() {
        const FakeBoard board;
        const auto findings = examine({board.folder() + "/none", {}, {}}, board.roots());
        QCOMPARE(int(named(findings, "folder")->severity), int(Severity::Problem));
        QVERIFY(!named(findings, "o_direct"));
    }

    void aClockThatWasNeverSetIsAWarning() {
        QCOMPARE(int(judgeClock(0).severity), int(Severity::Warning));
        QVERIFY(judgeClock(0).what.find("1970-01-01") != std::string::npos);
        QCOMPARE(int(judgeClock(1'800'000'000).severity), int(Severity::Good));
    }

    void looksAtThisMachine() {
        const QTemporaryDir folder;
        const auto findings = examine({folder.path().toStdString(), base::mebibytes(1), {}});
        for (const char* check : {"memory", "swap", "folder", "io_uring", "disk", "clock"})
            QVERIFY2(named(findings, check), check);
        QVERIFY(QDir(folder.path()).isEmpty()); // nothing is left behind
    }
};

QTEST_GUILESS_MAIN(TestDoctor)
#include "tst_doctor.moc"
