// SPDX-License-Identifier: GPL-3.0-or-later
// Built-in cards, types of numbers, and cards as JSON.
#include <QTest>

#include <nlohmann/json.hpp>

#include "plan_fixtures.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/model/kv_type.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using model::DType;
using model::KvType;
using model::ModelCard;

class TestModelCard : public QObject {
    Q_OBJECT

private slots:
    void catalogCardsHaveThePublishedSizes_data();
    void catalogCardsHaveThePublishedSizes();
    void everyNameOfTheCatalogIsACard();
    void anUnknownCardIsAUsageErrorThatNamesTheOthers();
    void storageTypesHaveTheSizesOfGgml_data();
    void storageTypesHaveTheSizesOfGgml();
    void rowsOfKeysTakeWhatTheirTypeSays();
    void cardsComeBackFromJson();
    void impossibleCardsAreBadInput_data();
    void impossibleCardsAreBadInput();
};

void TestModelCard::catalogCardsHaveThePublishedSizes_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<double>("millions");
    QTest::addColumn<double>("encoderMb");
    QTest::addColumn<double>("decoderMb");
    // The table of the design: parameters, and f16 megabytes of encoder and decoder.
    QTest::newRow("tiny") << "tiny" << 37.8 << 16.4 << 59.1;
    QTest::newRow("base") << "base" << 72.6 << 41.2 << 104.0;
    QTest::newRow("small") << "small" << 241.7 << 176.3 << 307.2;
    QTest::newRow("medium") << "medium" << 763.9 << 614.4 << 913.3;
    QTest::newRow("large-v3") << "large-v3" << 1543.5 << 1273.9 << 1813.0;
    QTest::newRow("large-v3-turbo") << "large-v3-turbo" << 808.9 << 1273.9 << 343.8;
}

void TestModelCard::catalogCardsHaveThePublishedSizes() {
    QFETCH(QString, name);
    QFETCH(double, millions);
    QFETCH(double, encoderMb);
    QFETCH(double, decoderMb);
    const auto card = test::card(name.toStdString());
    double elements = 0, encoder = 0, decoder = 0;
    for (const model::TensorInfo& t : card->tensors) {
        // The position tables and convolutions of the encoder are counted by their f16 size.
        elements += static_cast<double>(t.rows() * t.rowElements());
        (t.name.starts_with("encoder") ? encoder : decoder) +=
            2 * static_cast<double>(t.rows() * t.rowElements());
        QCOMPARE(t.bytes, t.bytesPerRow() * t.rows());
    }
    // The encoder's positions are no trained parameters, but they stand in the file.
    const double positions = 1500.0 * static_cast<double>(card->hparam("n_audio_state"));
    QVERIFY2(
        std::abs((elements - positions) / 1e6 - millions) < 0.6 ||
            std::abs(elements / 1e6 - millions) < 0.6,
        qPrintable(QString::number(elements / 1e6)));
    QVERIFY2(std::abs(encoder / 1e6 - encoderMb) < 5, qPrintable(QString::number(encoder / 1e6)));
    QVERIFY2(std::abs(decoder / 1e6 - decoderMb) < 5, qPrintable(QString::number(decoder / 1e6)));
}

void TestModelCard::everyNameOfTheCatalogIsACard() {
    const auto names = model::catalogNames();
    QVERIFY(names.size() >= 12);
    for (const std::string& name : names) {
        const auto card = model::loadCard(name);
        QVERIFY2(card.ok(), name.c_str());
        QCOMPARE(card->name, name);
        QVERIFY(card->weightBytes() < card->fileBytes);
        // Tensors follow each other and end with the file, as a converter lays it out.
        base::Bytes at;
        for (const model::TensorInfo& t : card->tensors) {
            QVERIFY(t.offset > at);
            at = t.offset + t.bytes;
        }
        QCOMPARE(at, card->fileBytes);
    }
}

void TestModelCard::anUnknownCardIsAUsageErrorThatNamesTheOthers() {
    for (const char* name : {"card:whisper-huge", "card:", "card:whisper-", "card:tiny"}) {
        const auto card = model::loadCard(name);
        QVERIFY(!card.ok());
        QCOMPARE(card.error().code, base::ErrorCode::Usage);
        QVERIFY(card.error().mend.find("large-v3-turbo") != std::string::npos);
    }
}

void TestModelCard::storageTypesHaveTheSizesOfGgml_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("number");
    QTest::addColumn<int>("bytesOf64");
    QTest::newRow("f32") << "f32" << 0 << 256;
    QTest::newRow("f16") << "f16" << 1 << 128;
    QTest::newRow("q4_0") << "q4_0" << 2 << 36;
    QTest::newRow("q4_1") << "q4_1" << 3 << 40;
    QTest::newRow("q5_0") << "q5_0" << 6 << 44;
    QTest::newRow("q5_1") << "q5_1" << 7 << 48;
    QTest::newRow("q8_0") << "q8_0" << 8 << 68;
}

void TestModelCard::storageTypesHaveTheSizesOfGgml() {
    QFETCH(QString, name);
    QFETCH(int, number);
    QFETCH(int, bytesOf64);
    const auto type = model::dtypeByName(name.toStdString());
    QVERIFY(type.has_value());
    QVERIFY(model::dtypeByGgmlNumber(number) == type);
    QCOMPARE(model::dtypeName(*type), name.toStdString());
    QCOMPARE(model::rowBytes(*type, 64).value, std::int64_t{bytesOf64});
    QCOMPARE(model::blockBytes(*type) * 64 / model::blockElements(*type), std::int64_t{bytesOf64});
    QVERIFY(!model::dtypeByName("q9"));
    for (const int other : {-1, 4, 5, 9, 1000})
        QVERIFY(!model::dtypeByGgmlNumber(other));
}

void TestModelCard::rowsOfKeysTakeWhatTheirTypeSays() {
    QCOMPARE(model::kvRowBytes(KvType::F32, 384, 6).value, std::int64_t{1536});
    QCOMPARE(model::kvRowBytes(KvType::F16, 384, 6).value, std::int64_t{768});
    QCOMPARE(model::kvRowBytes(KvType::Q8, 384, 6).value, std::int64_t{384 + 24});
    QCOMPARE(model::kvRowBytes(KvType::Q4, 384, 6).value, std::int64_t{192 + 24});
    QCOMPARE(model::kvRowBytes(KvType::Shared, 384, 6).value, std::int64_t{0});
    for (const char* name : {"f32", "f16", "q8", "q4", "shared"})
        QCOMPARE(model::kvTypeName(*model::kvTypeByName(name)), std::string_view(name));
    QVERIFY(!model::kvTypeByName("int8"));
}

void TestModelCard::cardsComeBackFromJson() {
    for (const char* name : {"sample", "tiny.en", "large-v3"}) {
        const auto card = test::card(name);
        const Json document = toJson(*card);
        const auto back = model::cardFromJson(Json::parse(document.dump()));
        QVERIFY2(back.ok(), test::lineOf(back).c_str());
        QVERIFY(toJson(*back) == document);
        // What is planned from it is planned alike.
        const auto other = std::make_shared<const ModelCard>(*back);
        QCOMPARE(test::planned(other, {}).hash, test::planned(card, {}).hash);
    }
}

void TestModelCard::impossibleCardsAreBadInput_data() {
    QTest::addColumn<QByteArray>("pointer");
    QTest::addColumn<QByteArray>("value");
    const auto row = [](const char* pointer, const char* value) {
        QTest::addRow("%s %s", pointer, value) << QByteArray(pointer) << QByteArray(value);
    };
    row("/name", "7");
    row("/family", "null");
    row("/file_bytes", "-1");
    row("/file_bytes", "9223372036854775807");
    row("/file_bytes", "1000");
    row("/hparams", "[[]]");
    row("/hparams/n_vocab", "\"many\"");
    row("/sections", "7");
    row("/sections/0/offset", "-5");
    row("/sections/0/bytes", "9223372036854775807");
    row("/tensors", "7");
    row("/tensors/0/dtype", "\"q9\"");
    row("/tensors/0/shape", "[]");
    row("/tensors/0/shape", "[-1500,384]");
    row("/tensors/0/shape", "[4294967296,4294967296,4]");
    row("/tensors/0/shape", "[9223372036854775807,2]");
    row("/tensors/0/offset", "-8");
    row("/tensors/0/offset", "9223372036854775807");
    row("/tensors/0/bytes", "12");
}

void TestModelCard::impossibleCardsAreBadInput() {
    QFETCH(QByteArray, pointer);
    QFETCH(QByteArray, value);
    Json document = toJson(*test::card("sample"));
    document[Json::json_pointer(pointer.toStdString())] = Json::parse(value.toStdString());
    const auto card = model::cardFromJson(document);
    QVERIFY(!card.ok());
    QCOMPARE(card.error().code, base::ErrorCode::BadInput);
    for (const char* text : {"null", "[]", "{}", "3"})
        QVERIFY(!model::cardFromJson(Json::parse(text)).ok());
}

QTEST_GUILESS_MAIN(TestModelCard)
#include "tst_model_card.moc"
