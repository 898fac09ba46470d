// SPDX-License-Identifier: GPL-3.0-or-later
// Valid inputs, changed at random with a fixed seed: nothing may crash, hang, or allocate out of
// proportion. The fuzzers go further; this runs with every test.
#include <random>

#include <QFile>
#include <QTest>

#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"
#include "sim_engine/trace/recording.h"
#include "targets.h"
#include "tests/unit/ggml_file.h"
#include "tests/unit/peak_memory.h"
#include "tests/unit/plan_fixtures.h"

using namespace shardscope;
using Json = nlohmann::ordered_json;

namespace {

/// Changes bytes in the ways that break parsers: bits, extreme numbers, cuts, repeats, moves.
class Mutator {
public:
    explicit Mutator(std::uint32_t seed) : m_random(seed) {}

    /// `hot` bytes at the begin are hit more often than the rest.
    std::string operator()(std::string bytes, std::size_t hot) {
        for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes)
            change(bytes, hot);
        return bytes;
    }

private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : m_random() % n; }

    void change(std::string& bytes, std::size_t hot) {
        const std::size_t reach = below(4) > 0 ? std::min(hot, bytes.size()) : bytes.size();
        const std::size_t at = below(reach), most = bytes.size() - at;
        switch (below(7)) {
        case 0:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
            break;
        case 1:
            bytes[at] = static_cast<char>(m_random());
            break;
        case 2: {
            constexpr std::array<std::uint32_t, 8> kExtremes{
                0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x40000000, 0x00010000, 20};
            const std::uint32_t value = kExtremes[below(kExtremes.size())];
            bytes.replace(
                at, std::min<std::size_t>(4, most), reinterpret_cast<const char*>(&value),
                std::min<std::size_t>(4, most));
            break;
        }
        case 3:
            bytes.resize(at);
            break;
        case 4:
            bytes.insert(below(reach), bytes.substr(at, below(200)));
            break;
        case 5:
            bytes.erase(at, below(64));
            break;
        default: {
            constexpr std::array<const char*, 8> kWords{
                "-1", "1e999", "null", "[[[[", "{}", "99999999999999999999", "\"", "\xFF\xFE"};
            bytes.insert(at, kWords[below(kWords.size())]);
        }
        }
    }

    std::mt19937 m_random;
};

std::string recordingBytes() {
    plan::RunConfig config;
    config.budget = base::mebibytes(70);
    config.maxTokens = 2;
    config.decoderShard.layers = config.encoderShard.layers = 4;
    const plan::Plan p = test::planned(test::card("tiny.en"), config);
    trace::Trace t = sim::simulate(p, test::board());
    std::string bytes;
    const Json run{{"config", toJson(config)}, {"legend", toJson(t.legend)}};
    trace::appendControl(bytes, 0, Json{{"run", run}}.dump());
    for (std::size_t at = 0; at < t.events.size(); at += 20)
        trace::appendEvents(
            bytes, at,
            std::span(t.events).subspan(at, std::min<std::size_t>(20, t.events.size() - at)));
    trace::appendControl(bytes, 1, R"({"result":{"text":"x"}})");
    return bytes;
}

std::string cardText() {
    return toJson(*test::card("tiny.en")).dump();
}

std::string wavBytes() {
    QFile file(RESOURCES_DIR "/clips/syn-000.wav");
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no clip");
    return file.readAll().left(4000).toStdString();
}

using Target = void (*)(std::string_view);

} // namespace

class TestHostileBytes : public QObject {
    Q_OBJECT

private slots:
    void changedInputsAreReadOrRefused_data();
    void changedInputsAreReadOrRefused();
    void framesInsideFramesDoNotCostTheirSquare();
};

void TestHostileBytes::changedInputsAreReadOrRefused_data() {
    QTest::addColumn<int>("target");
    QTest::addColumn<int>("rounds");
    QTest::newRow("frames") << 0 << 300;
    QTest::newRow("model") << 1 << 300;
    QTest::newRow("config") << 2 << 1500;
    QTest::newRow("profile") << 3 << 1500;
    QTest::newRow("legend") << 4 << 300;
    QTest::newRow("card") << 5 << 150;
    QTest::newRow("WAV") << 6 << 1500;
    QTest::newRow("words") << 7 << 300;
}

void TestHostileBytes::changedInputsAreReadOrRefused() {
    QFETCH(int, target);
    QFETCH(int, rounds);
    plan::RunConfig tight;
    tight.budget = base::mebibytes(60);
    const struct {
        Target read;
        std::string bytes;
        std::size_t hot;
    } inputs[] = {
        {fuzz::readFrames, recordingBytes(), 100000},
        {fuzz::readModel, test::ggmlFile().bytes, 80000},
        {fuzz::readConfig, toJson(tight).dump(), 1000},
        {fuzz::readProfile, toJson(test::board()).dump(), 3000},
        {fuzz::readLegend,
         toJson(plan::legendOf(test::planned(test::card("tiny.en"), tight))).dump(), 5000},
        {fuzz::readCard, cardText(), 3000},
        {fuzz::readWav, wavBytes(), 60},
        {fuzz::readWords, "--budget\n90MiB\n--slots=3\nrun\n--cross-keep\n0.5\n--pin\n1.5GiB", 80},
    };
    const auto& input = inputs[target];
    input.read(input.bytes); // as it is
    input.read("");
    const std::int64_t before = test::peakBytes();
    Mutator mutated(static_cast<std::uint32_t>(2026 + target));
    for (int i = 0; i < rounds; ++i)
        input.read(mutated(input.bytes, input.hot));
    QVERIFY2(
        test::peakBytes() - before < std::int64_t{64} << 20,
        qPrintable(QString::number((test::peakBytes() - before) >> 20)));
}

/// False headers, each of which claims the megabyte behind it, would cost 90 GB of checksums.
void TestHostileBytes::framesInsideFramesDoNotCostTheirSquare() {
    std::string header(24, '\0');
    header.replace(0, 6, "SSF1\x01\x01", 6);
    header[10] = '\x10'; // 1 MiB
    std::string bytes;
    while (bytes.size() < 2u << 20)
        bytes += header;
    bytes.append(2u << 20, '\0');
    trace::appendControl(bytes, 0, "{}");
    trace::FrameReader reader;
    reader.push(bytes);
    reader.end();
    std::size_t frames = 0;
    while (reader.next())
        ++frames;
    QCOMPARE(frames, std::size_t{1});
    QCOMPARE(reader.skippedBytes() + reader.pendingBytes(), std::uint64_t{bytes.size() - 26});
}

QTEST_GUILESS_MAIN(TestHostileBytes)
#include "tst_hostile_bytes.moc"
