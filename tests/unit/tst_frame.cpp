// SPDX-License-Identifier: GPL-3.0-or-later
#include <random>
#include <string>
#include <vector>

#include <QTest>

#include "sim_engine/base/bytes.h"
#include "sim_engine/base/crc32c.h"
#include "sim_engine/trace/frame.h"

using namespace shardscope;
using namespace std::string_literals;
using trace::Event;
using trace::EventKind;
using trace::Frame;
using trace::FrameKind;
using trace::FrameReader;

namespace {

std::vector<Event> events(std::size_t count) {
    std::vector<Event> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(
            {i * 1000, i, ~i, static_cast<std::uint32_t>(i), EventKind::Counter,
             trace::Lane::Sampler, static_cast<std::uint16_t>(i)});
    return all;
}

/// A stream of a control frame, an events frame and an empty control frame.
std::string stream() {
    std::string bytes;
    trace::appendControl(bytes, 0, R"({"run":{}})");
    trace::appendEvents(bytes, 7, events(3));
    trace::appendControl(bytes, 1, "{}");
    return bytes;
}

struct Seen {
    FrameKind kind;
    std::uint64_t sequence;
    std::string payload;
    bool operator==(const Seen&) const = default;
};

std::vector<Seen> drain(FrameReader& reader) {
    std::vector<Seen> all;
    while (const auto frame = reader.next())
        all.push_back({frame->kind, frame->sequence, std::string(frame->payload)});
    return all;
}

std::vector<Seen> readWhole(std::string_view bytes) {
    FrameReader reader;
    reader.push(bytes);
    return drain(reader);
}

/// Writes a value into a header and makes its checksum right again.
std::string patched(std::size_t at, std::uint16_t value, bool wide) {
    std::string bytes;
    trace::appendControl(bytes, 5, "{}");
    if (wide)
        base::storeAs(bytes.data() + at, value);
    else
        base::storeAs(bytes.data() + at, static_cast<std::uint8_t>(value));
    base::storeAs<std::uint32_t>(bytes.data() + 12, 0);
    base::storeAs(bytes.data() + 12, base::crc32c(bytes.data(), bytes.size()));
    return bytes;
}

} // namespace

class TestFrame : public QObject {
    Q_OBJECT

private slots:
    void theHeaderStandsAsDocumented();
    void comesBackAsItWasWritten();
    void anyCutIntoPiecesGivesTheSameFrames();
    void aLoginBannerIsSkippedAndCounted();
    void damageCostsOneFrame_data();
    void damageCostsOneFrame();
    void aHugeLengthIsDamage();
    void whatANewerVersionSendsIsSkippedWhole_data();
    void whatANewerVersionSendsIsSkippedWhole();
    void piecesOfRecordsAreNoFrame();
    void itsMemoryIsBoundedByWhatWaits();
    void namesAreThere();
};

void TestFrame::theHeaderStandsAsDocumented() {
    std::string bytes;
    trace::appendFrame(bytes, FrameKind::Events, 0x1122334455667788u, "abc");
    QCOMPARE(bytes.size(), trace::kFrameHeaderBytes + 3);
    QCOMPARE(bytes.substr(0, 4), "SSF1"s);
    QCOMPARE(bytes[4], char(1)); // version
    QCOMPARE(bytes[5], char(2)); // kind
    QCOMPARE(bytes.substr(6, 2), "\0\0"s);
    QCOMPARE(bytes.substr(8, 4), "\3\0\0\0"s);
    QCOMPARE(bytes.substr(16, 8), "\x88\x77\x66\x55\x44\x33\x22\x11"s);
    QCOMPARE(bytes.substr(24), "abc"s);
    std::string zeroed = bytes;
    zeroed.replace(12, 4, 4, '\0');
    QCOMPARE(
        base::loadAs<std::uint32_t>(bytes.data() + 12), base::crc32c(zeroed.data(), zeroed.size()));
}

void TestFrame::comesBackAsItWasWritten() {
    const std::string bytes = stream();
    FrameReader reader;
    reader.push(bytes);
    auto frame = reader.next();
    QVERIFY(frame && frame->kind == FrameKind::Control && frame->payload == R"({"run":{}})");
    frame = reader.next();
    QVERIFY(frame && frame->kind == FrameKind::Events);
    QCOMPARE(frame->sequence, std::uint64_t{7});
    QCOMPARE(frame->eventCount(), std::size_t{3});
    for (std::size_t i = 0; i < 3; ++i)
        QVERIFY(frame->event(i) == events(3)[i]);
    frame = reader.next();
    QVERIFY(frame && frame->payload == "{}" && frame->sequence == 1);
    QVERIFY(!reader.next());
    QCOMPARE(reader.skippedBytes(), std::uint64_t{0});
    QCOMPARE(reader.pendingBytes(), std::size_t{0});
}

void TestFrame::anyCutIntoPiecesGivesTheSameFrames() {
    const std::string bytes = stream();
    const auto expected = readWhole(bytes);
    QCOMPARE(expected.size(), std::size_t{3});
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        FrameReader reader;
        std::vector<Seen> seen;
        const std::size_t most = round == 0 ? 1 : 1 + random() % 60;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t n = std::min(bytes.size() - at, 1 + random() % most);
            reader.push(std::string_view(bytes).substr(at, n));
            at += n;
            for (auto& frame : drain(reader))
                seen.push_back(std::move(frame));
        }
        QVERIFY(seen == expected);
        QCOMPARE(reader.skippedBytes(), std::uint64_t{0});
    }
}

void TestFrame::aLoginBannerIsSkippedAndCounted() {
    const std::string banner = "Welcome to SSF\nSSSF1 is not ours\r\n";
    FrameReader reader;
    reader.push(banner + stream());
    QCOMPARE(drain(reader).size(), std::size_t{3});
    QCOMPARE(reader.skippedBytes(), std::uint64_t{banner.size()});
}

void TestFrame::damageCostsOneFrame_data() {
    QTest::addColumn<int>("at");
    for (const int at : {0, 3, 4, 5, 6, 9, 12, 16, 20, 24, 30, 33})
        QTest::addRow("byte %d of the first frame", at) << at;
}

void TestFrame::damageCostsOneFrame() {
    QFETCH(int, at);
    std::string bytes = stream();
    bytes[static_cast<std::size_t>(at)] =
        static_cast<char>(bytes[static_cast<std::size_t>(at)] ^ 0x40);
    const auto all = readWhole(stream());
    FrameReader reader;
    reader.push(bytes);
    auto seen = drain(reader);
    // A length that grew makes the reader wait until it is told that nothing more comes.
    reader.end();
    for (auto& frame : drain(reader))
        seen.push_back(std::move(frame));
    QVERIFY(seen == std::vector(all.begin() + 1, all.end()));
    QVERIFY(reader.pendingBytes() < 4);
}

void TestFrame::aHugeLengthIsDamage() {
    std::string bytes = stream();
    base::storeAs<std::uint32_t>(bytes.data() + 8, trace::kLargestPayload + 1);
    QCOMPARE(readWhole(bytes).size(), std::size_t{2});
    base::storeAs<std::uint32_t>(bytes.data() + 8, 0xFFFFFFFFu);
    QCOMPARE(readWhole(bytes).size(), std::size_t{2});
}

void TestFrame::whatANewerVersionSendsIsSkippedWhole_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<int>("value");
    QTest::newRow("version 2") << 4 << 2;
    QTest::newRow("an unknown kind") << 5 << 3;
    QTest::newRow("an unknown flag") << 6 << 1;
}

void TestFrame::whatANewerVersionSendsIsSkippedWhole() {
    QFETCH(int, at);
    QFETCH(int, value);
    FrameReader reader;
    reader.push(
        patched(static_cast<std::size_t>(at), static_cast<std::uint16_t>(value), at == 6) +
        stream());
    QCOMPARE(drain(reader).size(), std::size_t{3});
    QCOMPARE(reader.unknownFrames(), std::uint64_t{1});
    QCOMPARE(reader.skippedBytes(), std::uint64_t{0});
    QCOMPARE(reader.otherVersion().has_value(), at == 4);
}

void TestFrame::piecesOfRecordsAreNoFrame() {
    std::string bytes;
    trace::appendFrame(bytes, FrameKind::Events, 0, std::string(33, 'x'));
    trace::appendFrame(bytes, FrameKind::Events, 0, "");
    FrameReader reader;
    reader.push(bytes);
    const auto seen = drain(reader);
    QCOMPARE(seen.size(), std::size_t{1});
    QVERIFY(seen[0].payload.empty());
    QCOMPARE(reader.unknownFrames(), std::uint64_t{1});
}

void TestFrame::itsMemoryIsBoundedByWhatWaits() {
    FrameReader reader;
    const std::string noise(1 << 16, 'S');
    for (int i = 0; i < 100; ++i) {
        reader.push(noise);
        QVERIFY(!reader.next());
        QVERIFY(reader.pendingBytes() < 4);
    }
    QVERIFY(reader.skippedBytes() > std::uint64_t{99} << 16);
}

void TestFrame::namesAreThere() {
    QCOMPARE(trace::eventKindName(EventKind::RunBegin), std::string_view("run begin"));
    QCOMPARE(trace::eventKindName(EventKind::Note), std::string_view("note"));
    QCOMPARE(trace::eventKindName(static_cast<EventKind>(200)), std::string_view("unknown"));
    QCOMPARE(trace::laneName(trace::Lane::Io), std::string_view("I/O"));
    QCOMPARE(trace::laneName(static_cast<trace::Lane>(200)), std::string_view("unknown"));
    QCOMPARE(trace::counterName(trace::CounterKind::IoBytes), std::string_view("bytes read"));
    QCOMPARE(trace::counterName(trace::CounterKind::SwapUsed), std::string_view("swap used"));
    QCOMPARE(trace::counterUnit(trace::CounterKind::Rss), std::string_view("bytes"));
    QCOMPARE(trace::counterUnit(trace::CounterKind::Clock), std::string_view("kHz"));
    QCOMPARE(trace::counterName(static_cast<trace::CounterKind>(99)), std::string_view("unknown"));
}

QTEST_APPLESS_MAIN(TestFrame)
#include "tst_frame.moc"
