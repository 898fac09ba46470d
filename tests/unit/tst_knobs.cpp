// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs by their words, and the JSON form of a configuration.
#include <set>

#include <QTest>

#include <nlohmann/json.hpp>

#include "plan_fixtures.h"
#include "sim_engine/plan/knobs.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;
using plan::Knob;
using plan::RunConfig;

class TestKnobs : public QObject {
    Q_OBJECT

private slots:
    void eachHasItsWords();
    void takesWhatIsDocumented_data();
    void takesWhatIsDocumented();
    void refusesEverythingElse_data();
    void refusesEverythingElse();
    void aRefusedValueChangesNothing();
    void anUnknownKnobIsAUsageError();
    void whatItPrintsItReads();
    void jsonHasEveryKnobInItsOwnKind();
    void anyConfigComesBackFromJson();
    void jsonTakesTheSameWords_data();
    void jsonTakesTheSameWords();
    void badJsonIsAUsageErrorThatNamesTheKey_data();
    void badJsonIsAUsageErrorThatNamesTheKey();
};

void TestKnobs::eachHasItsWords() {
    std::set<std::string_view> words;
    for (const Knob& knob : plan::knobs()) {
        QVERIFY(knob.flag.starts_with("--"));
        for (const std::string_view word : {knob.flag, knob.key, knob.label, knob.help})
            QVERIFY2(!word.empty() && words.insert(word).second, std::string(word).c_str());
        QVERIFY(!knob.values.empty());
        QCOMPARE(plan::findKnob(knob.flag), &knob);
        QCOMPARE(plan::findKnob(knob.key), &knob);
        // The flag is the key with dashes; --budget alone leaves out its unit.
        std::string key(knob.flag.substr(2));
        std::replace(key.begin(), key.end(), '-', '_');
        QVERIFY(knob.key == key || knob.key == "budget_bytes");
    }
    QVERIFY(!plan::findKnob("--frobnicate"));
    QVERIFY(!plan::findKnob(""));
}

void TestKnobs::takesWhatIsDocumented_data() {
    QTest::addColumn<QString>("flag");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("printed");
    const auto row = [](const char* flag, const char* value, const char* printed = nullptr) {
        QTest::addRow("%s %s", flag, value) << flag << value << (printed ? printed : value);
    };
    row("--budget", "90MiB", "94371840");
    row("--budget", "none");
    for (const char* flag : {"--encoder-shard", "--decoder-shard"})
        for (const char* value : {"tensor", "sublayer", "1", "256"})
            row(flag, value);
    row("--vocab-shards", "auto");
    row("--vocab-shards", "12");
    for (const char* value : {"auto", "none", "all", "4096"})
        row("--pin", value);
    row("--pin", "1MiB", "1048576");
    row("--pin", "0");
    for (const char* value : {"pin", "lru", "mru", "random", "belady"})
        row("--policy", value);
    row("--slots", "1");
    for (const char* value : {"auto", "mmap", "populate", "pread", "direct", "uring"})
        row("--loader", value);
    for (const char* value : {"f32", "f16", "q8", "q4"}) {
        row("--kv", value);
        row("--cross-kv", value);
    }
    row("--cross-kv", "shared");
    row("--cross-keep", "0.5");
    row("--cross-keep", "1", "1.0");
    row("--threads", "auto");
    row("--threads", "4");
    row("--batch", "2");
    row("--beam", "5");
    row("--language", "de");
    row("--timestamps", "on");
    row("--timestamps", "off");
    row("--max-tokens", "224");
    row("--audio-ctx", "full");
    row("--audio-ctx", "750");
    row("--emulate-read", "50MB/s", "50000000");
    row("--emulate-read", "none");
}

void TestKnobs::takesWhatIsDocumented() {
    QFETCH(QString, flag);
    QFETCH(QString, value);
    QFETCH(QString, printed);
    RunConfig config;
    const auto status = plan::setKnob(config, flag.toStdString(), value.toStdString());
    QVERIFY2(status.ok(), status.error().line().c_str());
    QCOMPARE(QString::fromStdString(plan::findKnob(flag.toStdString())->print(config)), printed);
}

void TestKnobs::refusesEverythingElse_data() {
    QTest::addColumn<QString>("flag");
    QTest::addColumn<QString>("value");
    const std::pair<const char*, const char*> cases[] = {
        {"--budget", "0"},
        {"--budget", "-1"},
        {"--budget", "lots"},
        {"--budget", ""},
        {"--encoder-shard", "0"},
        {"--encoder-shard", "257"},
        {"--encoder-shard", "layer"},
        {"--vocab-shards", "0"},
        {"--vocab-shards", "8193"},
        {"--pin", "some"},
        {"--policy", "LRU"},
        {"--policy", "fifo"},
        {"--slots", "0"},
        {"--slots", "1025"},
        {"--slots", "2.5"},
        {"--slots", "99999999999"},
        {"--loader", "dma"},
        {"--kv", "shared"},
        {"--kv", "int8"},
        {"--cross-keep", "0.7"},
        {"--cross-keep", "nan"},
        {"--threads", "0"},
        {"--threads", "257"},
        {"--batch", "0"},
        {"--beam", "0"},
        {"--beam", "9"},
        {"--language", "E"},
        {"--language", "English"},
        {"--language", "e\n"},
        {"--timestamps", "yes"},
        {"--max-tokens", "0"},
        {"--max-tokens", "4097"},
        {"--audio-ctx", "0"},
        {"--emulate-read", "0"},
        {"--emulate-read", "fast"}};
    for (const auto& [flag, value] : cases)
        QTest::addRow("%s \"%s\"", flag, value) << flag << value;
}

void TestKnobs::refusesEverythingElse() {
    QFETCH(QString, flag);
    QFETCH(QString, value);
    RunConfig config;
    const auto status = plan::setKnob(config, flag.toStdString(), value.toStdString());
    QVERIFY(!status.ok());
    QCOMPARE(status.error().code, base::ErrorCode::Usage);
    QCOMPARE(status.error().where, flag.toStdString());
    QVERIFY(status.error().mend.starts_with("give "));
    QVERIFY(config == RunConfig());
}

void TestKnobs::aRefusedValueChangesNothing() {
    RunConfig config;
    config.timestamps = true;
    const RunConfig before = config;
    QVERIFY(!plan::setKnob(config, "--timestamps", "perhaps").ok());
    QVERIFY(config == before);
    const std::string huge(100000, '9');
    const auto status = plan::setKnob(config, "--slots", huge);
    QVERIFY(!status.ok() && status.error().line().size() < 200);
}

void TestKnobs::anUnknownKnobIsAUsageError() {
    RunConfig config;
    const auto status = plan::setKnob(config, "--frobnicate", "1");
    QCOMPARE(status.error().code, base::ErrorCode::Usage);
    QCOMPARE(status.error().where, std::string("--frobnicate"));
}

void TestKnobs::whatItPrintsItReads() {
    test::Draw draw(21);
    for (int i = 0; i < 200; ++i) {
        RunConfig config = draw.config();
        config.promptTokens = 0;
        config.usefulRead = {};
        config.pin = {plan::PinChoice::Kind::Bytes, base::Bytes(draw.below(1 << 30))};
        config.budget = base::Bytes(1 + draw.below(1 << 30));
        RunConfig back;
        for (const Knob& knob : plan::knobs())
            QVERIFY(plan::setKnob(back, knob.key, knob.print(config)).ok());
        QVERIFY(back == config);
    }
}

void TestKnobs::jsonHasEveryKnobInItsOwnKind() {
    RunConfig config;
    const Json document = toJson(config);
    QCOMPARE(document.size(), plan::knobs().size());
    QVERIFY(document["budget_bytes"].is_null());
    QVERIFY(document["emulate_read"].is_null());
    QCOMPARE(document["encoder_shard"].get<std::string>(), std::string("1"));
    QCOMPARE(document["slots"].get<int>(), 2);
    QCOMPARE(document["cross_keep"].get<double>(), 1.0);
    QCOMPARE(document["timestamps"].get<bool>(), false);
    QCOMPARE(document["threads"].get<std::string>(), std::string("auto"));
    config.budget = base::mebibytes(90);
    config.threads = 3;
    config.promptTokens = 9;
    config.usefulRead = base::kibibytes(64);
    QCOMPARE(toJson(config)["budget_bytes"].get<std::int64_t>(), std::int64_t{94371840});
    QCOMPARE(toJson(config)["threads"].get<int>(), 3);
    QCOMPARE(toJson(config)["prompt_tokens"].get<int>(), 9);
    QCOMPARE(toJson(config)["useful_read_bytes"].get<int>(), 65536);
}

void TestKnobs::anyConfigComesBackFromJson() {
    test::Draw draw(22);
    for (int i = 0; i < 200; ++i) {
        RunConfig config = draw.config();
        config.pin = {plan::PinChoice::Kind::Bytes, base::Bytes(draw.below(1 << 30))};
        if (draw.below(2))
            config.budget = base::Bytes(1 + draw.below(1 << 30));
        if (draw.below(2))
            config.emulateRead = base::Bytes(1 + draw.below(1 << 30));
        config.timestamps = draw.below(2);
        const auto back = plan::configFromJson(Json::parse(toJson(config).dump()));
        QVERIFY2(back.ok(), test::lineOf(back).c_str());
        QVERIFY(*back == config);
    }
    QVERIFY(*plan::configFromJson(Json::object()) == RunConfig());
}

void TestKnobs::jsonTakesTheSameWords_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text :
         {R"({"budget_bytes":"90MiB"})", R"({"budget_bytes":94371840})",
          R"({"budget_bytes":94371840.0})"})
        QTest::newRow(text) << QByteArray(text);
}

void TestKnobs::jsonTakesTheSameWords() {
    QFETCH(QByteArray, text);
    const auto config = plan::configFromJson(Json::parse(text.toStdString()));
    QVERIFY2(config.ok(), test::lineOf(config).c_str());
    QCOMPARE(*config->budget, base::mebibytes(90));
}

void TestKnobs::badJsonIsAUsageErrorThatNamesTheKey_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("where");
    const auto row = [](const char* text, const char* where) {
        QTest::newRow(text) << QByteArray(text) << QByteArray(where);
    };
    row("[]", "config");
    row("null", "config");
    row("7", "config");
    row(R"({"frobnicate":1})", "frobnicate");
    row(R"({"--slots":1})", "--slots");
    row(R"({"slots":[1]})", "slots");
    row(R"({"slots":{}})", "slots");
    row(R"({"slots":true})", "--slots");
    row(R"({"slots":2.5})", "--slots");
    row(R"({"slots":18446744073709551615})", "--slots");
    row(R"({"slots":-1})", "--slots");
    row(R"({"budget_bytes":1e300})", "--budget");
    row(R"({"prompt_tokens":-1})", "prompt_tokens");
    row(R"({"prompt_tokens":4097})", "prompt_tokens");
    row(R"({"useful_read_bytes":-1})", "useful_read_bytes");
    row(R"({"useful_read_bytes":"much"})", "useful_read_bytes");
    row(R"({"prompt_tokens":18446744073709551615})", "prompt_tokens");
    row(R"({"prompt_tokens":"two"})", "prompt_tokens");
    row(R"({"timestamps":1})", "--timestamps");
}

void TestKnobs::badJsonIsAUsageErrorThatNamesTheKey() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, where);
    const auto config = plan::configFromJson(Json::parse(text.toStdString()));
    QVERIFY(!config.ok());
    QCOMPARE(config.error().code, base::ErrorCode::Usage);
    QCOMPARE(config.error().where, where.toStdString());
}

QTEST_GUILESS_MAIN(TestKnobs)
#include "tst_knobs.moc"
