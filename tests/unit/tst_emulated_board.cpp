// SPDX-License-Identifier: GPL-3.0-or-later
// What an emulated board holds a run to, and where control groups could do it.
#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "app/remote/emulate/emulation.h"
#include "plan_fixtures.h"

using namespace shardscope;
using namespace shardscope::app;
using plan::BoardProfile;
using plan::ReadPath;

namespace {

/// A machine twenty times as fast as the V851s, with four cores.
BoardProfile fastMachine() {
    BoardProfile local = test::board();
    local.name = "local";
    local.cores = local.fastCores = 4;
    local.ramTotal = base::mebibytes(8192);
    local.ramReserved = base::mebibytes(100);
    for (auto& rates : local.kernels)
        for (plan::KernelRate& rate : rates) {
            rate.cached *= 20;
            rate.streamed *= 20;
        }
    local.memoryBytesPerSecond *= 20;
    local.threadScaling = {
        {1, 1, local.memoryBytesPerSecond},
        {2, 2, local.memoryBytesPerSecond * 2},
        {4, 4, local.memoryBytesPerSecond * 4}};
    for (plan::ReadPoint& p : local.reads)
        p = {p.path, p.bytes, p.depth, p.p50Ns / 100, p.p99Ns / 100, p.bytesPerSecond * 100};
    local.readBytesPerSecond *= 100;
    return local;
}

/// A kernel's files in a folder of the test.
class FakeKernel {
public:
    CgroupRoots roots() const {
        return {m_folder.filePath("groups"), m_folder.filePath("cgroup"), m_folder.filePath("dev")};
    }
    void write(const QString& name, const QByteArray& text) const {
        const QString path = m_folder.filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    void folder(const QString& name) const { QDir().mkpath(m_folder.filePath(name)); }
    QString path(const QString& name) const { return m_folder.filePath(name); }

private:
    QTemporaryDir m_folder;
};

QStringList foldersOf(const QList<CgroupPlace>& places, const FakeKernel& kernel, bool isV2) {
    QStringList all;
    for (const CgroupPlace& p : places)
        if (p.isV2 == isV2)
            all.append(QDir(kernel.path({})).relativeFilePath(p.folder));
    return all;
}

} // namespace

class TestEmulatedBoard : public QObject {
    Q_OBJECT

private slots:
    void namesTheBoard() {
        QVERIFY(isEmulated("emulated:rpi3b-1g-sd"));
        QVERIFY(!isEmulated("rpi3b-1g-sd") && !isEmulated("local"));
        QCOMPARE(emulatedName("emulated:rpi3b-1g-sd"), QString("rpi3b-1g-sd"));
    }

    void takesTheSameShareOfAFasterProcessor() {
        const BoardProfile board = test::board();
        const EmulationLimits limits = emulationLimits(board, fastMachine());
        QCOMPARE(limits.memory, board.ramTotal - board.ramReserved);
        QCOMPARE(limits.readBytesPerSecond, 26e6);
        QCOMPARE(limits.threads, 1);
        QVERIFY2(qAbs(limits.cores - 0.05) < 1e-6, qPrintable(QString::number(limits.cores)));
    }

    void doesNotSlowAMachineThatIsSlowerThanTheBoard() {
        const EmulationLimits limits =
            emulationLimits(test::board("rk3588-16g-nvme"), test::board());
        QCOMPARE(limits.cores, 0.0);
        QCOMPARE(limits.threads, 1); // there is one core here
    }

    void predictsThisMachineHeldToTheBoard() {
        const BoardProfile board = test::board(), local = fastMachine();
        const EmulationLimits limits = emulationLimits(board, local);
        const BoardProfile held = emulatedProfile(board, local, limits);
        QCOMPARE(held.name, std::string("emulated:v851s-512m-nand"));
        QCOMPARE(held.ramTotal, board.ramTotal);
        QCOMPARE(held.ramReserved, board.ramReserved);
        QCOMPARE(held.fastCores, 1);
        const plan::KernelKey matvec{plan::KernelClass::MatVec, model::DType::F16};
        QVERIFY(qAbs(held.kernelRate(matvec, true) / local.kernelRate(matvec, true) - 0.05) < 1e-6);
        for (const plan::ReadPoint& p : held.reads)
            QVERIFY(p.path == ReadPath::Cached || p.bytesPerSecond <= 26e6 + 1);
        const auto cached = [](const BoardProfile& b) {
            return b.readRate(ReadPath::Cached, base::mebibytes(1), 1);
        };
        QVERIFY(qAbs(cached(held) / cached(local) - 0.05) < 1e-6); // copying is work too
        QCOMPARE(held.overlap, 1.0);
        QVERIFY(*held.mappedBytesPerSecond <= 26e6);
        const auto again = plan::profileFromJson(toJson(held));
        QVERIFY2(again.ok(), test::lineOf(again).c_str());
    }

    /// A quota of two and a half of four cores: one thread is as fast as ever.
    void threadsShareTheQuota() {
        EmulationLimits limits;
        limits.memory = base::mebibytes(512);
        limits.readBytesPerSecond = 26e6;
        limits.cores = 2.5;
        limits.threads = 4;
        const BoardProfile local = fastMachine();
        const BoardProfile held = emulatedProfile(test::board(), local, limits);
        const plan::KernelKey matvec{plan::KernelClass::MatVec, model::DType::F16};
        QCOMPARE(held.kernelRate(matvec, true), local.kernelRate(matvec, true));
        QCOMPARE(held.computeSpeedUp(1), 1.0);
        QCOMPARE(held.computeSpeedUp(2), 2.0);
        QCOMPARE(held.computeSpeedUp(4), 2.5);
        QCOMPARE(held.memoryRate(4), local.memoryBytesPerSecond * 2.5);
        QCOMPARE(held.overlap, local.overlap);
    }

    void everyPresetCanBeEmulated() {
        for (const QString& name : QDir(RESOURCES_DIR "/boards").entryList({"*.json"})) {
            const BoardProfile board = test::board(name.chopped(5).toUtf8().constData());
            QVERIFY2(!board.sources.empty(), qPrintable(name)); // each value says where it is from
            const EmulationLimits limits = emulationLimits(board, fastMachine());
            QVERIFY(limits.memory.value > 0 && limits.readBytesPerSecond > 0);
            QVERIFY(
                plan::profileFromJson(toJson(emulatedProfile(board, fastMachine(), limits))).ok());
        }
    }

    void findsPlacesOfVersionOne() {
        const FakeKernel kernel;
        kernel.write("groups", "4:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/a\n");
        kernel.folder("cgroup/memory/a/b");
        kernel.folder("cgroup/cpu");
        QCOMPARE(
            foldersOf(cgroupPlaces(Controller::Memory, kernel.roots()), kernel, false),
            QStringList({"cgroup/memory/a/b", "cgroup/memory/a", "cgroup/memory"}));
        QCOMPARE(
            foldersOf(cgroupPlaces(Controller::Processor, kernel.roots()), kernel, false),
            QStringList({"cgroup/cpu"}));
        QVERIFY(cgroupPlaces(Controller::Reads, kernel.roots()).isEmpty());
    }

    /// A group with processes in it can have no groups with controllers below; so only what stands
    /// above it will do, where the controller is.
    void findsPlacesOfVersionTwo() {
        const FakeKernel kernel;
        kernel.write("groups", "0::/user.slice/app.slice/shell.scope\n");
        kernel.write("cgroup/cgroup.controllers", "cpu io memory pids\n");
        kernel.write("cgroup/user.slice/cgroup.controllers", "cpu memory\n");
        kernel.write("cgroup/user.slice/app.slice/cgroup.controllers", "memory\n");
        kernel.write("cgroup/user.slice/app.slice/shell.scope/cgroup.controllers", "memory\n");
        QCOMPARE(
            foldersOf(cgroupPlaces(Controller::Memory, kernel.roots()), kernel, true),
            QStringList({"cgroup/user.slice/app.slice", "cgroup/user.slice", "cgroup"}));
        QCOMPARE(
            foldersOf(cgroupPlaces(Controller::Processor, kernel.roots()), kernel, true),
            QStringList({"cgroup/user.slice", "cgroup"}));
        QCOMPARE(
            foldersOf(cgroupPlaces(Controller::Reads, kernel.roots()), kernel, true),
            QStringList({"cgroup"}));
        kernel.write("groups", "0::/\n"); // the root itself may have both
        QCOMPARE(
            foldersOf(cgroupPlaces(Controller::Memory, kernel.roots()), kernel, true),
            QStringList({"cgroup"}));
    }

    void holdsBackTheDiskOfAPartition() {
        const FakeKernel kernel;
        kernel.write("block/sda/dev", "8:0\n");
        kernel.write("block/sda/sda1/dev", "8:1\n");
        kernel.write("block/sda/sda1/partition", "1\n");
        kernel.folder("dev");
        QVERIFY(QFile::link(kernel.path("block/sda"), kernel.path("dev/8:0")));
        QVERIFY(QFile::link(kernel.path("block/sda/sda1"), kernel.path("dev/8:1")));
        QCOMPARE(diskOf(8, 1, kernel.roots()), QString("8:0"));
        QCOMPARE(diskOf(8, 0, kernel.roots()), QString("8:0"));
        QCOMPARE(diskOf(8, 2, kernel.roots()), QString());  // no such device
        QCOMPARE(diskOf(0, 42, kernel.roots()), QString()); // overlayfs, tmpfs, btrfs
        QCOMPARE(diskOf("/nowhere", kernel.roots()), QString());
    }

    void knowsWhatADeadProgramLeft() {
        QVERIFY(!isStale(groupName(1)));      // ours
        QVERIFY(isStale("shardscope-1-7-1")); // another process has that number now
        QVERIFY(isStale("shardscope-4194304-7-1"));
        QVERIFY(!isStale("shardscope-x-7-1"));
        QVERIFY(!isStale("shardscope-7"));
        QVERIFY(!isStale("user.slice"));
    }

    void sweepsOnlyWhatIsDead() {
        const FakeKernel kernel;
        kernel.write("groups", "4:memory:/\n");
        for (const QString& name :
             {QString("shardscope-4194304-7-1"), groupName(900), QString("other")})
            kernel.folder("cgroup/memory/" + name);
        CgroupBox::sweep(kernel.roots());
        QCOMPARE(
            QDir(kernel.path("cgroup/memory")).entryList(QDir::Dirs | QDir::NoDotAndDotDot),
            QStringList({"other", groupName(900)}));
    }

    void limitsItselfWhereNoGroupsArePermitted() {
        const FakeKernel kernel;
        kernel.write("groups", "");
        plan::RunConfig config;
        const auto run = Emulation::prepare(
            test::board(), fastMachine(), kernel.path("model"), config, kernel.roots());
        QCOMPARE(*config.budget, test::board().ramTotal - test::board().ramReserved);
        QCOMPARE(config.emulateRead->value, std::int64_t{26000000});
        QCOMPARE(config.threads, 1);
        const auto json = run->toJson();
        for (const char* what : {"memory", "reads", "processor"})
            QVERIFY2(
                json[what]["by"].get<std::string>().find("(soft)") != std::string::npos,
                json.dump().c_str());
        QVERIFY(run->words().contains("v851s-512m-nand") && run->words().contains("soft"));
        QVERIFY(run->enter() && !run->isKilledForMemory());
        QVERIFY(run->profile()->name == "emulated:v851s-512m-nand");
    }

    void keepsTighterLimitsThatWereGiven() {
        const FakeKernel kernel;
        kernel.write("groups", "");
        plan::RunConfig config;
        config.budget = base::mebibytes(20);
        config.emulateRead = base::Bytes(5'000'000);
        config.threads = 3;
        const auto run = Emulation::prepare(
            test::board(), fastMachine(), kernel.path("model"), config, kernel.roots());
        QCOMPARE(*config.budget, base::mebibytes(20));
        QCOMPARE(config.emulateRead->value, std::int64_t{5'000'000});
        QCOMPARE(config.threads, 3);
        QCOMPARE(run->toJson()["reads"]["bytes_per_s"].get<double>(), 5e6);
    }

    void emulatesWithoutAMeasuredMachine() {
        const FakeKernel kernel;
        kernel.write("groups", "");
        plan::RunConfig config;
        const auto run =
            Emulation::prepare(test::board(), {}, kernel.path("model"), config, kernel.roots());
        QVERIFY(!run->profile());
        QVERIFY(run->words().contains("not measured"));
    }
};

QTEST_GUILESS_MAIN(TestEmulatedBoard)
#include "tst_emulated_board.moc"
