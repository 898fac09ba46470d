// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>
#include <string>

#include <QTest>

#include "sim_engine/base/bytes.h"
#include "sim_engine/base/crc32c.h"
#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

using namespace shardscope::base;

class TestBase : public QObject {
    Q_OBJECT

private slots:
    void quantitiesKeepTheirUnit();
    void alignsUp();
    void idsAreInvalidUntilSet();
    void aResultIsAValueOrAnError();
    void anErrorIsOneLine();
    void crcHasTheKnownValues();
    void crcGoesOnFromItsParts();
    void readsAndWritesAtAnyAddress();
};

void TestBase::quantitiesKeepTheirUnit() {
    static_assert(!std::is_convertible_v<Nanos, Bytes> && !std::is_convertible_v<int, Bytes>);
    QCOMPARE(kibibytes(3) + Bytes(5), Bytes(3077));
    QCOMPARE(mebibytes(1) - kibibytes(1), Bytes(1047552));
    QCOMPARE(Bytes(7) * 6, Bytes(42));
    Bytes sum;
    sum += Bytes(4);
    sum -= Bytes(1);
    QVERIFY(sum == Bytes(3) && sum < Bytes(4) && sum.size() == 3);
    QCOMPARE(milliseconds(Nanos(1'500'000)), 1.5);
    QCOMPARE(seconds(Nanos(2'000'000'000)), 2.0);
}

void TestBase::alignsUp() {
    QCOMPARE(alignUp(Bytes(0), 4096), Bytes(0));
    QCOMPARE(alignUp(Bytes(1), 4096), Bytes(4096));
    QCOMPARE(alignUp(Bytes(4096), 4096), Bytes(4096));
    QCOMPARE(alignUp(Bytes(4097), 4096), Bytes(8192));
}

void TestBase::idsAreInvalidUntilSet() {
    static_assert(!std::is_convertible_v<ShardId, TensorId>);
    QVERIFY(!ShardId().valid());
    QVERIFY(ShardId(0u).valid());
    QVERIFY(ShardId(3u) < ShardId(4u));
    QCOMPARE(ShardId(std::size_t{7}).index(), std::size_t{7});
}

void TestBase::aResultIsAValueOrAnError() {
    Result<std::unique_ptr<int>> value = std::make_unique<int>(3);
    QVERIFY(value.ok() && value);
    QCOMPARE(**value, 3);
    const std::unique_ptr<int> moved = *std::move(value);
    QCOMPARE(*moved, 3);
    const Result<int> error = Error{ErrorCode::BadInput, "w", "", ""};
    QVERIFY(!error);
    QCOMPARE(error.error().code, ErrorCode::BadInput);
    QVERIFY(Status().ok());
    const Status status = Error{ErrorCode::Usage, "w", "", ""};
    QVERIFY(!status.ok());
    QCOMPARE(static_cast<int>(status.error().code), 2);
}

void TestBase::anErrorIsOneLine() {
    QCOMPARE((Error{ErrorCode::Failed, "what", "", ""}.line()), std::string("what"));
    QCOMPARE((Error{ErrorCode::Failed, "what", "here", ""}.line()), std::string("here: what"));
    QCOMPARE(
        (Error{ErrorCode::Failed, "what", "here", "do this"}.line()),
        std::string("here: what; do this"));
}

void TestBase::crcHasTheKnownValues() {
    // RFC 3720, appendix B.4.
    QCOMPARE(crc32c("123456789", 9), 0xE3069283u);
    QCOMPARE(crc32c(std::string(32, '\0').data(), 32), 0x8A9136AAu);
    QCOMPARE(crc32c(std::string(32, '\xFF').data(), 32), 0x62A8AB43u);
    QCOMPARE(crc32c(nullptr, 0), 0u);
}

void TestBase::crcGoesOnFromItsParts() {
    const std::string text = "the order of dense weights does not depend on the token";
    const std::uint32_t whole = crc32c(text.data(), text.size());
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
        QCOMPARE(crc32c(text.data() + cut, text.size() - cut, crc32c(text.data(), cut)), whole);
}

void TestBase::readsAndWritesAtAnyAddress() {
    std::string bytes(16, '\0');
    storeAs<std::uint64_t>(bytes.data() + 3, 0x0102030405060708u);
    QCOMPARE(bytes[3], '\x08');
    QCOMPARE(loadAs<std::uint32_t>(bytes.data() + 7), 0x01020304u);
}

QTEST_APPLESS_MAIN(TestBase)
#include "tst_base.moc"
