// SPDX-License-Identifier: GPL-3.0-or-later
#include <vector>

#include <QFile>
#include <QTest>

#include "device_agent/engine/tokenizer/vocabulary.h"

using namespace shardscope;
using tokenizer::Token;
using tokenizer::Vocabulary;

namespace {

QByteArray le(quint32 value) {
    return QByteArray(reinterpret_cast<const char*>(&value), sizeof value);
}

QByteArray listOf(const QList<QByteArray>& tokens) {
    QByteArray bytes = le(static_cast<quint32>(tokens.size()));
    for (const QByteArray& token : tokens)
        bytes += le(static_cast<quint32>(token.size())) + token;
    return bytes;
}

base::Result<Vocabulary> read(const QByteArray& bytes, int modelTokens) {
    return Vocabulary::read(
        std::as_bytes(std::span(bytes.data(), static_cast<std::size_t>(bytes.size()))), modelTokens,
        "m.bin", 1000);
}

/// The vocabulary of the sample model: after 48 bytes of header and 80 x 201 filters.
QByteArray sampleList() {
    QFile file(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
    if (!file.open(QIODevice::ReadOnly) || !file.seek(48 + 8 + 80 * 201 * 4))
        qFatal("the sample model is missing");
    return file.read(1 << 20);
}

} // namespace

class TestTokenizer : public QObject {
    Q_OBJECT

private slots:
    void readsTheSampleModel();
    void givesSpecialsTheIdsOfEachModelKind_data();
    void givesSpecialsTheIdsOfEachModelKind();
    void buildsTheDefaultPrompt_data();
    void buildsTheDefaultPrompt();
    void refusesLanguagesTheModelLacks_data();
    void refusesLanguagesTheModelLacks();
    void knowsAHundredLanguages();
    void namesEveryToken();
    void findsTheLastOfEqualTokens();
    void refusesHostileLists_data();
    void refusesHostileLists();
    void refusesEveryTruncation();
};

void TestTokenizer::readsTheSampleModel() {
    const QByteArray bytes = sampleList();
    const auto v = read(bytes, 51864);
    QVERIFY2(v.ok(), v.ok() ? "" : v.error().line().c_str());
    QCOMPARE(v->size(), 51864);
    QCOMPARE(v->listed(), 50257);
    QVERIFY(v->bytesRead() < static_cast<std::size_t>(bytes.size()));
    QVERIFY(v->memoryBytes() < 900000);
    QCOMPARE(v->find(" "), std::optional<Token>(220));
    const std::vector<Token> ids{50257, 50362, 318, 262, 4676, 2491, 50256};
    QCOMPARE(v->textOf(ids), std::string(" is the camera running"));
}

void TestTokenizer::givesSpecialsTheIdsOfEachModelKind_data() {
    QTest::addColumn<int>("modelTokens");
    QTest::addColumn<QList<Token>>("ids"); // in the order of SpecialTokens
    QTest::addColumn<int>("languages");
    QTest::newRow("English") << 51864 << QList<Token>{50256, 50257, 50258, 50357, 50358,
                                                      50359, 50360, 50361, 50362, 50363}
                             << 1;
    QTest::newRow("multilingual") << 51865 << QList<Token>{50257, 50258, 50259, 50358, 50359,
                                                           50360, 50361, 50362, 50363, 50364}
                                  << 99;
    QTest::newRow("large-v3") << 51866 << QList<Token>{50257, 50258, 50259, 50359, 50360,
                                                       50361, 50362, 50363, 50364, 50365}
                              << 100;
}

void TestTokenizer::givesSpecialsTheIdsOfEachModelKind() {
    QFETCH(int, modelTokens);
    QFETCH(QList<Token>, ids);
    QFETCH(int, languages);
    const auto v = read(listOf({"a"}), modelTokens);
    QVERIFY(v.ok());
    const tokenizer::SpecialTokens& s = v->special();
    QCOMPARE(
        (QList<Token>{
            s.eot, s.sot, s.firstLanguage, s.translate, s.transcribe, s.solm, s.prev, s.nosp,
            s.noTimestamps, s.firstTimestamp}),
        ids);
    QCOMPARE(v->languageCount(), languages);
    // 0.00 s to 30.00 s in steps of 0.02 s end the vocabulary.
    QCOMPARE(s.firstTimestamp + 1501, modelTokens);
}

void TestTokenizer::buildsTheDefaultPrompt_data() {
    QTest::addColumn<int>("modelTokens");
    QTest::addColumn<QString>("language");
    QTest::addColumn<QList<Token>>("ids");
    QTest::newRow("English") << 51864 << "en" << QList<Token>{50257, 50362};
    QTest::newRow("multilingual, English")
        << 51865 << "en" << QList<Token>{50258, 50259, 50359, 50363};
    QTest::newRow("multilingual, German")
        << 51865 << "de" << QList<Token>{50258, 50261, 50359, 50363};
    QTest::newRow("large-v3, Cantonese")
        << 51866 << "yue" << QList<Token>{50258, 50358, 50360, 50364};
}

void TestTokenizer::buildsTheDefaultPrompt() {
    QFETCH(int, modelTokens);
    QFETCH(QString, language);
    QFETCH(QList<Token>, ids);
    const auto v = read(listOf({"a"}), modelTokens);
    QVERIFY(v.ok());
    const auto prompt = v->defaultPrompt(language.toStdString());
    QVERIFY(prompt.ok());
    QCOMPARE(QList<Token>(prompt->begin(), prompt->end()), ids);
}

void TestTokenizer::refusesLanguagesTheModelLacks_data() {
    QTest::addColumn<int>("modelTokens");
    QTest::addColumn<QString>("language");
    QTest::newRow("German of an English model") << 51864 << "de";
    QTest::newRow("Cantonese before large-v3") << 51865 << "yue";
    QTest::newRow("no code") << 51866 << "english";
    QTest::newRow("nothing") << 51866 << "";
}

void TestTokenizer::refusesLanguagesTheModelLacks() {
    QFETCH(int, modelTokens);
    QFETCH(QString, language);
    const auto v = read(listOf({"a"}), modelTokens);
    QVERIFY(v.ok());
    const auto prompt = v->defaultPrompt(language.toStdString());
    QVERIFY(!prompt.ok());
    QCOMPARE(prompt.error().code, base::ErrorCode::Usage);
}

void TestTokenizer::knowsAHundredLanguages() {
    for (int id = 0; id < 100; ++id)
        QCOMPARE(Vocabulary::languageId(Vocabulary::languageCode(id)), std::optional<int>(id));
    QVERIFY(Vocabulary::languageCode(100).empty());
    QVERIFY(Vocabulary::languageCode(-1).empty());
    QCOMPARE(Vocabulary::languageId("haw"), std::optional<int>(93));
}

void TestTokenizer::namesEveryToken() {
    const auto v = read(listOf({"a", QByteArray("\xF0\x9F", 2)}), 51865);
    QVERIFY(v.ok());
    const QList<std::pair<Token, const char*>> names{
        {0, "a"},
        {1, "\xF0\x9F"},
        {2, "[token 2]"},
        {50257, "[eot]"},
        {50258, "[sot]"},
        {50259, "[en]"},
        {50357, "[su]"},
        {50358, "[translate]"},
        {50362, "[no speech]"},
        {50363, "[no timestamps]"},
        {50364, "[0.00 s]"},
        {51864, "[30.00 s]"},
        {51865, "[token 51865]"},
        {-1, "[token -1]"}};
    for (const auto& [id, name] : names)
        QCOMPARE(v->nameOf(id), std::string(name));
    QVERIFY(v->bytesOf(50258).empty());
    QVERIFY(v->bytesOf(-1).empty());
}

void TestTokenizer::findsTheLastOfEqualTokens() {
    const auto v = read(listOf({"x", "", "x", "y"}), 51864);
    QVERIFY(v.ok());
    QCOMPARE(v->find("x"), std::optional<Token>(2));
    QCOMPARE(v->find(""), std::optional<Token>(1));
    QCOMPARE(v->find("z"), std::nullopt);
}

void TestTokenizer::refusesHostileLists_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("modelTokens");
    QTest::addColumn<QString>("where");
    const QByteArray good = listOf({"a", "b"});
    QTest::newRow("nothing") << QByteArray() << 51864 << "m.bin at byte 1000";
    QTest::newRow("half a count") << QByteArray(3, '\0') << 51864 << "m.bin at byte 1000";
    QTest::newRow("a billion tokens") << le(999999999) + good << 51864 << "m.bin at byte 1000";
    QTest::newRow("more tokens than bytes") << le(50257) + good << 51864 << "m.bin at byte 1000";
    QTest::newRow("length 0xFFFFFFFF")
        << le(2) + le(1) + "a" + le(0xFFFFFFFF) + "b" << 51864 << "m.bin at byte 1009";
    QTest::newRow("one byte too long")
        << le(2) + le(1) + "a" + le(2) + "b" << 51864 << "m.bin at byte 1009";
    QTest::newRow("model of no tokens") << good << 0 << "m.bin at byte 1000";
    QTest::newRow("model of a billion tokens") << good << 999999999 << "m.bin at byte 1000";
    QTest::newRow("model of negative size") << good << -1 << "m.bin at byte 1000";
}

void TestTokenizer::refusesHostileLists() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, modelTokens);
    QFETCH(QString, where);
    const auto v = read(bytes, modelTokens);
    QVERIFY(!v.ok());
    QCOMPARE(v.error().code, base::ErrorCode::BadInput);
    QCOMPARE(QString::fromStdString(v.error().where), where);
}

void TestTokenizer::refusesEveryTruncation() {
    const QByteArray whole = listOf({"one", "", "three"});
    for (qsizetype n = 0; n < whole.size(); ++n)
        QVERIFY(!read(whole.left(n), 51864).ok());
    QVERIFY(read(whole, 51864).ok());
}

QTEST_GUILESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
