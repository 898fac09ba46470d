// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <QTest>

#include "sim_engine/base/format.h"

using namespace shardscope::base;

class TestFormat : public QObject {
    Q_OBJECT

private slots:
    void writesBytes_data();
    void writesBytes();
    void writesTimes_data();
    void writesTimes();
    void writesRates();
    void readsBytes_data();
    void readsBytes();
    void refusesWhatIsNoAmount_data();
    void refusesWhatIsNoAmount();
    void readsWholeNumbersOnly();
    void readsFractionsOnly();
    void formatsAtAnyLength();
};

void TestFormat::writesBytes_data() {
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<QString>("text");
    const auto row = [](qint64 bytes, const char* text) { QTest::newRow(text) << bytes << text; };
    row(0, "0 B");
    row(1023, "1023 B");
    row(1024, "1.0 KiB");
    row(4813, "4.7 KiB");
    row(90 << 20, "90.0 MiB");
    row(qint64{5} << 28, "1.25 GiB");
    row(-2048, "-2.0 KiB");
}

void TestFormat::writesBytes() {
    QFETCH(qint64, bytes);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(bytesText(Bytes(bytes))), text);
}

void TestFormat::writesTimes_data() {
    QTest::addColumn<qint64>("nanos");
    QTest::addColumn<QString>("text");
    const auto row = [](qint64 nanos, const char* text) { QTest::newRow(text) << nanos << text; };
    row(0, "0 ns");
    row(850, "850 ns");
    row(12'400, "12.4 us");
    row(3'210'000, "3.21 ms");
    row(32'100'000, "32.1 ms");
    row(1'500'000'000, "1.50 s");
    row(-3'210'000, "-3.21 ms");
}

void TestFormat::writesTimes() {
    QFETCH(qint64, nanos);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(timeText(Nanos(nanos))), text);
}

void TestFormat::writesRates() {
    QCOMPARE(rateText(48e6), std::string("48.0 MB/s"));
    QCOMPARE(rateText(1234), std::string("1.2 kB/s"));
    QCOMPARE(rateText(2.5e9), std::string("2.50 GB/s"));
}

void TestFormat::readsBytes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("bytes");
    const auto row = [](const char* text, qint64 bytes) { QTest::newRow(text) << text << bytes; };
    row("0", 0);
    row("4096", 4096);
    row("90MiB", 90 << 20);
    row("90MB", 90'000'000);
    row("90M", 90'000'000);
    row("64k", 64'000);
    row("64K", 64'000);
    row("64KiB", 65'536);
    row("64kiB", 65'536);
    row("1.5GiB", qint64{3} << 29);
    row("0.5B", 1);
    row("50MB/s", 50'000'000);
    row("4000000000000000000", 4'000'000'000'000'000'000);
}

void TestFormat::readsBytes() {
    QFETCH(QString, text);
    QFETCH(qint64, bytes);
    const auto read = parseBytes(text.toStdString());
    QVERIFY(read.has_value());
    QCOMPARE(read->value, bytes);
}

void TestFormat::refusesWhatIsNoAmount_data() {
    QTest::addColumn<QString>("text");
    for (const char* text :
         {"",
          " 5",
          "5 ",
          "5 MiB",
          "MiB",
          "-1",
          "+1",
          "1e9",
          "0x10",
          "nan",
          "inf",
          "1..5",
          "1,5",
          "5MiBs",
          "5MiB/s/s",
          "/s",
          "5mib",
          "9223372036854775808",
          "99999999999GiB",
          "ten"})
        QTest::addRow("\"%s\"", text) << text;
}

void TestFormat::refusesWhatIsNoAmount() {
    QFETCH(QString, text);
    QVERIFY(!parseBytes(text.toStdString()));
}

void TestFormat::readsWholeNumbersOnly() {
    QCOMPARE(parseInteger("-12"), std::optional<std::int64_t>(-12));
    QCOMPARE(parseInteger("9223372036854775807"), std::optional<std::int64_t>(INT64_MAX));
    for (const char* text : {"", "1.0", "1 ", " 1", "+1", "0x1", "9223372036854775808", "1k"})
        QVERIFY2(!parseInteger(text), text);
}

void TestFormat::readsFractionsOnly() {
    QCOMPARE(parseReal("0.5"), std::optional<double>(0.5));
    QCOMPARE(parseReal("1"), std::optional<double>(1.0));
    QCOMPARE(parseReal("-2.25"), std::optional<double>(-2.25));
    for (const char* text : {"", "nan", "inf", "-inf", "1e2", "0.5 ", "0.5x", ".", "0x1p3"})
        QVERIFY2(!parseReal(text), text);
}

void TestFormat::formatsAtAnyLength() {
    QCOMPARE(formatted("%s", ""), std::string());
    QCOMPARE(formatted("%d-%s", 7, "x"), std::string("7-x"));
    const std::string longText(5000, 'y');
    QCOMPARE(formatted("<%s>", longText.c_str()).size(), std::size_t{5002});
}

QTEST_APPLESS_MAIN(TestFormat)
#include "tst_format.moc"
