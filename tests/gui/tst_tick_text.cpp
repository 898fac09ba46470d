// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "ui/plot/plot_text.h"
#include "ui/plot/tick_text.h"

using namespace shardscope;
using namespace shardscope::ui;

class TestTickText : public QObject {
    Q_OBJECT

private slots:
    void stepsAreRound_data();
    void stepsAreRound();
    void byteStepsAreRoundInTheirUnit_data();
    void byteStepsAreRoundInTheirUnit();
    void ticksSayAsMuchAsTheirStepNeeds();
    void momentsAreExact();
    void rangesOfOneValueAreOneValue();
};

void TestTickText::stepsAreRound_data() {
    QTest::addColumn<double>("least");
    QTest::addColumn<double>("step");
    QTest::newRow("one") << 1.0 << 1.0;
    QTest::newRow("above one") << 1.1 << 2.0;
    QTest::newRow("to five") << 230.0 << 500.0;
    QTest::newRow("to ten") << 5.1e6 << 1e7;
    QTest::newRow("small") << 0.3 << 0.5;
}

void TestTickText::stepsAreRound() {
    QFETCH(double, least);
    QFETCH(double, step);
    QCOMPARE(roundStep(least), step);
}

void TestTickText::byteStepsAreRoundInTheirUnit_data() {
    QTest::addColumn<double>("least");
    QTest::addColumn<double>("step");
    QTest::newRow("bytes") << 30.0 << 50.0;
    QTest::newRow("less than a byte") << 0.1 << 1.0;
    QTest::newRow("half a KiB") << 400.0 << 500.0;
    QTest::newRow("KiB") << 600.0 << 1024.0;
    QTest::newRow("MiB") << 11.0 * 1048576 << 20.0 * 1048576;
    QTest::newRow("GiB") << 900.0 * 1048576 << 1073741824.0;
}

void TestTickText::byteStepsAreRoundInTheirUnit() {
    QFETCH(double, least);
    QFETCH(double, step);
    QCOMPARE(roundByteStep(least), step);
}

void TestTickText::ticksSayAsMuchAsTheirStepNeeds() {
    QCOMPARE_EQ(timeTickText(1.25e9, 0.05e9, 2e9), QStringLiteral("1.25 s"));
    QCOMPARE_EQ(timeTickText(2e9, 1e9, 5e9), QStringLiteral("2 s"));
    QCOMPARE_EQ(timeTickText(40e6, 20e6, 0.3e9), QStringLiteral("40 ms"));
    QCOMPARE_EQ(timeTickText(0, 0.5e9, 2e9), QStringLiteral("0 s"));
    QCOMPARE_EQ(byteTickText(0, 1048576, 4e6), QStringLiteral("0"));
    QCOMPARE_EQ(byteTickText(1.5 * 1048576, 0.5 * 1048576, 4e6), QStringLiteral("1.5 MiB"));
}

void TestTickText::momentsAreExact() {
    QCOMPARE_EQ(momentText(base::Nanos(1'202'345'678)), QStringLiteral("1.202346 s"));
    QCOMPARE_EQ(momentText(base::Nanos(12'345'678)), QStringLiteral("12.346 ms"));
    QCOMPARE_EQ(momentText(base::Nanos(345)), QStringLiteral("0.345 us"));
}

void TestTickText::rangesOfOneValueAreOneValue() {
    QCOMPARE_EQ(rangeText(base::Nanos(1000), base::Nanos(1001)), spanText(base::Nanos(1000)));
    QVERIFY(rangeText(base::Nanos(1000), base::Nanos(9000)).contains(QChar(0x2026)));
    QCOMPARE_EQ(signedBytesText(-2048).at(0), QChar(0x2212));
}

QTEST_GUILESS_MAIN(TestTickText)
#include "tst_tick_text.moc"
