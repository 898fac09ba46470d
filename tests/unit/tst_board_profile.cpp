// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>

#include "plan_fixtures.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using base::Bytes;
using model::DType;
using plan::BoardProfile;
using plan::KernelClass;

class TestBoardProfile : public QObject {
    Q_OBJECT

private slots:
    void everyPresetIsRead();
    void comesBackFromJson();
    void namesTheKeyThatIsWrong_data();
    void namesTheKeyThatIsWrong();
    void whatIsNoObjectIsBadInput();
    void anOlderFileIsCompleted();
    void namesTheElementThatIsWrong_data();
    void namesTheElementThatIsWrong();
    void tellsTheRateOfAKernel();
    void tellsWhatARequestTakes();
    void tellsWhatThreadsGain();
    void aReadTakesItsLatencyAndItsBytes();
};

void TestBoardProfile::everyPresetIsRead() {
    const QDir folder(RESOURCES_DIR "/boards");
    const QStringList names = folder.entryList({"*.json"});
    QVERIFY(names.size() >= 3);
    for (const QString& name : names) {
        const QByteArray base = name.chopped(5).toUtf8();
        const BoardProfile profile = test::board(base.constData());
        QCOMPARE(QByteArray::fromStdString(profile.name), base);
        QVERIFY(!profile.source.empty() && !profile.cpu.empty() && !profile.storage.empty());
    }
}

void TestBoardProfile::comesBackFromJson() {
    const Json document = toJson(test::board());
    const auto back = plan::profileFromJson(Json::parse(document.dump()));
    QVERIFY2(back.ok(), test::lineOf(back).c_str());
    QVERIFY(toJson(*back) == document);
}

void TestBoardProfile::namesTheKeyThatIsWrong_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    const auto row = [](const char* key, const char* value) {
        QTest::addRow("%s %s", key, value) << QByteArray(key) << QByteArray(value);
    };
    const Json good = toJson(test::board());
    const QByteArrayList maybe{"reads",          "kernels",
                               "thread_scaling", "op_fixed_alone_ns",
                               "token_fixed_ns", "overlap_direct",
                               "machine",        "overlap_throttled",
                               "minor_fault_ns", "mapped_bytes_per_s",
                               "noise",          "populated_bytes_per_s",
                               "sources"};
    for (const auto& [key, value] : good.items()) {
        if (!maybe.contains(QByteArray::fromStdString(key)))
            row(key.c_str(), ""); // missing
        row(key.c_str(), "null");
        row(key.c_str(), "[]");
        if (value.is_number()) {
            row(key.c_str(), "-1");
            row(key.c_str(), "1e300");
            row(key.c_str(), "\"7\"");
        }
    }
    row("read_bytes_per_s", "0");
    row("memory_bytes_per_s", "0");
    row("cores", "0");
    row("ram_reserved_bytes", "1000000000000");
    row("fast_cores", "200");
    row("ops_per_s", R"({"mel":[1e9,1e9]})");
}

void TestBoardProfile::namesTheKeyThatIsWrong() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    Json document = toJson(test::board());
    const std::string name = key.toStdString();
    if (value.isEmpty())
        document.erase(name);
    else
        document[name] = Json::parse(value.toStdString());
    const auto profile = plan::profileFromJson(document);
    QVERIFY(!profile.ok());
    QCOMPARE(profile.error().code, base::ErrorCode::BadInput);
    QVERIFY2(profile.error().what.starts_with("\"" + name), profile.error().line().c_str());
}

void TestBoardProfile::whatIsNoObjectIsBadInput() {
    for (const char* text : {"null", "[]", "7", "\"x\"", "{}"})
        QCOMPARE(plan::profileFromJson(Json::parse(text)).error().code, base::ErrorCode::BadInput);
    QVERIFY(!plan::profileFromJson(Json::parse("{", nullptr, false)).ok());
    Json document = toJson(test::board());
    for (const char* rates : {"[1]", "[1e9,1e9,1e9]", "[1e9,\"x\"]", "[0,1e9]", "7"}) {
        document["ops_per_s"]["matvec"] = Json::parse(rates);
        const auto profile = plan::profileFromJson(document);
        QVERIFY(!profile.ok());
        QVERIFY(profile.error().what.find("ops_per_s.matvec") != std::string::npos);
    }
}

/// Files of the first version have the first part alone.
void TestBoardProfile::anOlderFileIsCompleted() {
    QFile file(TEST_DATA_DIR "/formats/profile-1.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    const auto old = plan::profileFromJson(Json::parse(text.begin(), text.end()));
    QVERIFY2(old.ok(), test::lineOf(old).c_str());
    for (const auto path :
         {plan::ReadPath::Cached, plan::ReadPath::Buffered, plan::ReadPath::Direct})
        QVERIFY(old->hasReads(path));
    QCOMPARE(old->kernelRate({KernelClass::DecodeAttention, DType::F32}, false), 7e8);
    QCOMPARE(old->kernelRate({KernelClass::EncodeAttention, DType::F32}, false), 8e8);
    QCOMPARE(old->kernelRate({KernelClass::MatVec, DType::Q5_1}, true), 7e8);
    QCOMPARE(*old->overlapDirect, old->overlap);
    QCOMPARE(*old->minorFaultNs, old->pageFaultNs);
    QCOMPARE(old->threadScaling.size(), std::size_t{1});
    const auto again = plan::profileFromJson(toJson(*old));
    QVERIFY2(again.ok(), test::lineOf(again).c_str());
    QVERIFY(toJson(*again) == toJson(*old));
}

void TestBoardProfile::namesTheElementThatIsWrong_data() {
    QTest::addColumn<QByteArray>("pointer");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("key");
    const auto row = [](const char* pointer, const char* value, const char* key) {
        QTest::addRow("%s %s", pointer, value)
            << QByteArray(pointer) << QByteArray(value) << QByteArray(key);
    };
    row("/reads/0/path", "\"tape\"", "reads.path");
    row("/reads/0/bytes", "0", "reads.bytes");
    row("/reads/0/depth", "-8", "reads.depth");
    row("/reads/0/p50_ns", "-1", "reads.p50_ns");
    row("/reads/0/p99_ns", "0", "reads.p99_ns");
    row("/reads/0/bytes_per_s", "1e99", "reads.bytes_per_s");
    row("/reads/0", "7", "reads");
    row("/kernels/matvec/f16", "[1e9]", "kernels.matvec.f16");
    row("/kernels/matvec/f16/1", "-1", "kernels.matvec.f16");
    row("/kernels/matvec", "[]", "kernels.matvec");
    row("/thread_scaling/0/threads", "0", "thread_scaling.threads");
    row("/thread_scaling/0/compute_speed_up", "null", "thread_scaling.compute_speed_up");
    row("/thread_scaling/0/memory_bytes_per_s", "0", "thread_scaling.memory_bytes_per_s");
    row("/machine/kernel", "1", "machine.kernel");
    row("/machine/cache_bytes", "-1", "machine.cache_bytes");
    row("/machine/clusters", R"([{"cores":-1,"mhz":0,"name":""}])", "machine.clusters.cores");
    row("/noise", "{}", "noise.compute");
    row("/sources", R"({"cores":4})", "sources.cores");
}

void TestBoardProfile::namesTheElementThatIsWrong() {
    QFETCH(QByteArray, pointer);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, key);
    Json document = toJson(test::board());
    document[Json::json_pointer(pointer.toStdString())] = Json::parse(value.toStdString());
    const auto profile = plan::profileFromJson(document);
    QVERIFY(!profile.ok());
    QCOMPARE(profile.error().code, base::ErrorCode::BadInput);
    QVERIFY2(
        profile.error().what.starts_with("\"" + key.toStdString() + "\""),
        profile.error().line().c_str());
}

void TestBoardProfile::tellsTheRateOfAKernel() {
    BoardProfile profile;
    for (auto& rates : profile.opsPerSecond)
        rates = {2e9, 1e9};
    QCOMPARE(profile.kernelRate({KernelClass::MatMul, DType::F32}, false), 2e9);
    QCOMPARE(profile.kernelRate({KernelClass::MatMul, DType::Q4_0}, true), 1e9);
    auto& matvec = profile.kernels[static_cast<std::size_t>(KernelClass::MatVec)];
    matvec[static_cast<std::size_t>(DType::F16)] = {5e9, 3e9};
    QCOMPARE(profile.kernelRate({KernelClass::MatVec, DType::F16}, false), 5e9);
    QCOMPARE(profile.kernelRate({KernelClass::MatVec, DType::F16}, true), 3e9);
    QCOMPARE(profile.kernelRate({KernelClass::MatVec, DType::Q4_0}, true), 3e9); // the nearest
    QCOMPARE(profile.kernelRate({KernelClass::MatVec, DType::F32}, true), 2e9);
}

void TestBoardProfile::tellsWhatARequestTakes() {
    using plan::ReadPath;
    BoardProfile profile;
    profile.readLatencyNs = 100;
    profile.readBytesPerSecond = 1e9;
    QCOMPARE(profile.requestNs(ReadPath::Direct, Bytes(1000)), 1100.0);
    profile.reads = {
        {ReadPath::Direct, Bytes(1000), 1, 2000, 4000, 5e8},
        {ReadPath::Direct, Bytes(1000), 8, 4000, 4000, 2e9},
        {ReadPath::Direct, Bytes(3000), 1, 3000, 4000, 1e9}};
    QCOMPARE(profile.requestNs(ReadPath::Direct, Bytes(10)), 2000.0);
    QCOMPARE(profile.requestNs(ReadPath::Direct, Bytes(2000)), 2500.0);
    QCOMPARE(profile.requestNs(ReadPath::Direct, Bytes(5000)), 5000.0);
    QCOMPARE(profile.requestNs(ReadPath::Cached, Bytes(1000)), 1100.0);
    QCOMPARE(profile.readRate(ReadPath::Direct, Bytes(1500), 1), 5e8);
    QCOMPARE(profile.readRate(ReadPath::Direct, Bytes(1500), 32), 2e9);
    QCOMPARE(profile.readRate(ReadPath::Direct, Bytes(4000), 8), 1e9);
}

void TestBoardProfile::tellsWhatThreadsGain() {
    BoardProfile profile;
    profile.cores = profile.fastCores = 4;
    profile.threadEfficiency = 0.5;
    profile.memoryBytesPerSecond = 1e9;
    profile.memoryScale = 2;
    QCOMPARE(profile.computeSpeedUp(4), 2.5);
    QCOMPARE(profile.memoryRate(4), 2e9);
    profile.threadScaling = {{1, 1, 1e9}, {2, 1.9, 1.6e9}, {4, 3.5, 1.8e9}};
    QCOMPARE(profile.computeSpeedUp(1), 1.0);
    QCOMPARE(profile.computeSpeedUp(3), 2.7);
    QCOMPARE(profile.computeSpeedUp(9), 3.5); // there are four cores
    QCOMPARE(profile.memoryRate(3), 1.7e9);
}

void TestBoardProfile::aReadTakesItsLatencyAndItsBytes() {
    BoardProfile profile;
    profile.readLatencyNs = 1000;
    profile.readBytesPerSecond = 1e9;
    QCOMPARE(profile.readTime(Bytes(0), 0).value, std::int64_t{1000});
    QCOMPARE(profile.readTime(Bytes(5000), 0).value, std::int64_t{6000});
    QCOMPARE(profile.readTime(Bytes(5000), 5e8).value, std::int64_t{11000});
    QCOMPARE(profile.readTime(Bytes(5000), 5e9).value, std::int64_t{6000}); // no faster than it is
}

QTEST_GUILESS_MAIN(TestBoardProfile)
#include "tst_board_profile.moc"
