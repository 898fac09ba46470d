// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>

#include "plan_fixtures.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using base::Bytes;
using plan::BoardProfile;

class TestBoardProfile : public QObject {
    Q_OBJECT

private slots:
    void everyPresetIsRead();
    void comesBackFromJson();
    void namesTheKeyThatIsWrong_data();
    void namesTheKeyThatIsWrong();
    void whatIsNoObjectIsBadInput();
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
    for (const auto& [key, value] : good.items()) {
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
