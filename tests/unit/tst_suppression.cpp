// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTest>

#include "device_agent/engine/tokenizer/suppression.h"

using namespace shardscope;
using tokenizer::Token;
using tokenizer::TokenMask;
using tokenizer::Vocabulary;

namespace {

/// A vocabulary of `modelTokens` that spells out "a", " " and "\"".
Vocabulary vocabularyOf(int modelTokens) {
    static const char kList[] = "\x03\0\0\0"
                                "\x01\0\0\0a"
                                "\x01\0\0\0 "
                                "\x01\0\0\0\"";
    auto v =
        Vocabulary::read(std::as_bytes(std::span(kList, sizeof kList - 1)), modelTokens, "", 0);
    if (!v)
        qFatal("%s", v.error().line().c_str());
    return std::move(v).value();
}

} // namespace

class TestSuppression : public QObject {
    Q_OBJECT

private slots:
    void barsAllIdsFromStartOfTranscriptOn_data();
    void barsAllIdsFromStartOfTranscriptOn();
    void barsEndAndSpaceAtTheFirstStepOnly();
    void allowsNonSpeechSigns();
    void keepsBitsInWordOrder();
};

void TestSuppression::barsAllIdsFromStartOfTranscriptOn_data() {
    QTest::addColumn<int>("modelTokens");
    QTest::newRow("English") << 51864;
    QTest::newRow("multilingual") << 51865;
    QTest::newRow("large-v3") << 51866;
}

void TestSuppression::barsAllIdsFromStartOfTranscriptOn() {
    QFETCH(int, modelTokens);
    const Vocabulary v = vocabularyOf(modelTokens);
    const auto suppression = defaultSuppression(v);
    for (Token id = 0; id < modelTokens; ++id)
        QCOMPARE(suppression.laterSteps.contains(id), id >= v.special().sot);
    QCOMPARE(suppression.laterSteps.count(), modelTokens - v.special().sot);
    QCOMPARE(
        suppression.laterSteps.words().size(), (static_cast<std::size_t>(modelTokens) + 63) / 64);
}

void TestSuppression::barsEndAndSpaceAtTheFirstStepOnly() {
    const Vocabulary v = vocabularyOf(51865);
    const auto suppression = defaultSuppression(v);
    QVERIFY(suppression.at(0).contains(v.special().eot));
    QVERIFY(suppression.at(0).contains(1));
    QVERIFY(!suppression.at(1).contains(v.special().eot));
    QVERIFY(!suppression.at(1).contains(1));
    QCOMPARE(suppression.firstStep.count(), suppression.laterSteps.count() + 2);
}

void TestSuppression::allowsNonSpeechSigns() {
    const auto suppression = defaultSuppression(vocabularyOf(51864));
    QVERIFY(!suppression.firstStep.contains(2)); // the quotation mark
    QVERIFY(!suppression.laterSteps.contains(2));
}

void TestSuppression::keepsBitsInWordOrder() {
    TokenMask mask(130);
    mask.insert(0);
    mask.insertRange(63, 66);
    mask.insert(129);
    QCOMPARE(mask.words(), (std::vector<std::uint64_t>{0x8000000000000001u, 3u, 2u}));
    QCOMPARE(mask.count(), 5);
}

QTEST_GUILESS_MAIN(TestSuppression)
#include "tst_suppression.moc"
