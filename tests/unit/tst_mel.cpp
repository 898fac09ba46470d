// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "device_agent/engine/audio/mel.h"

using namespace shardscope;
using audio::kBins;
using audio::kWindowFrames;
using audio::MelFrontEnd;
using audio::WavReader;

namespace {

constexpr int kMels = 80;
constexpr double kTolerance = 5e-5;

/// The filters of the sample model, after its header of 48 bytes and their two dimensions.
QByteArray sampleFilters() {
    QFile file(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
    if (!file.open(QIODevice::ReadOnly) || !file.seek(48 + 8))
        qFatal("the sample model is missing");
    return file.read(qint64{kMels} * kBins * 4);
}

std::span<const std::byte> bytesOf(const QByteArray& a) {
    return std::as_bytes(std::span(a.data(), static_cast<std::size_t>(a.size())));
}

template <typename T>
QByteArray le(T value) {
    return QByteArray(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Tones, clicks and noise that never repeat, from a linear congruential generator.
std::vector<float> testSound(std::size_t samples) {
    std::vector<float> sound(samples);
    quint32 state = 7;
    for (std::size_t i = 0; i < samples; ++i) {
        state = state * 1664525u + 1013904223u;
        const double t = static_cast<double>(i) / 16000.0;
        const double noise = static_cast<double>(state >> 8) / 16777216.0 - 0.5;
        const double swell = 0.5 + 0.5 * std::sin(0.7 * t);
        sound[i] = static_cast<float>(
            0.3 * swell * std::sin(2 * std::numbers::pi * (200.0 + 90.0 * t) * t) + 0.02 * noise);
    }
    return sound;
}

/// The definition, in float64: log10 mel energies of one frame, without normalization.
std::vector<double>
exactFrame(const std::vector<float>& sound, const QByteArray& filters, std::int64_t frame) {
    const auto n = static_cast<std::int64_t>(sound.size());
    std::vector<double> x(400);
    for (int j = 0; j < 400; ++j) {
        const std::int64_t i = std::abs(frame * 160 - 200 + j);
        const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * j / 400);
        x[static_cast<std::size_t>(j)] = i < n ? hann * sound[static_cast<std::size_t>(i)] : 0.0;
    }
    std::vector<double> power(kBins);
    for (std::size_t k = 0; k < kBins; ++k) {
        std::complex<double> sum;
        for (std::size_t j = 0; j < 400; ++j)
            sum += x[j] *
                   std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % 400) / 400);
        power[k] = std::norm(sum);
    }
    std::vector<double> mel(kMels);
    for (std::size_t m = 0; m < kMels; ++m) {
        double energy = 0;
        for (std::size_t k = 0; k < kBins; ++k) {
            float weight;
            std::memcpy(&weight, filters.data() + (m * kBins + k) * 4, 4);
            energy += power[k] * static_cast<double>(weight);
        }
        mel[m] = std::log10(std::max(energy, 1e-10));
    }
    return mel;
}

double normalized(double x, double maximum) {
    return std::max(x, maximum - 8) / 4 + 1;
}

} // namespace

class TestMel : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void agreesWithExactNumbersOnSampleClips_data();
    void agreesWithExactNumbersOnSampleClips();
    void agreesWithTheDefinitionAtStartAndEnd_data();
    void agreesWithTheDefinitionAtStartAndEnd();
    void windowsShareSamplesAndTheMaximum();
    void framesAreBitIdenticalHoweverSharedOut();
    void writesRowsAtTheGivenStrideOnly();
    void silenceIsConstant();
    void takesFiltersAtAnyAlignment();
    void refusesBadFilters_data();
    void refusesBadFilters();
    void countsWindows_data();
    void countsWindows();

private:
    WavReader sound(const std::vector<float>& samples);
    MelFrontEnd frontEnd() const {
        auto mel = MelFrontEnd::create({bytesOf(m_filters), kMels});
        if (!mel)
            qFatal("%s", mel.error().line().c_str());
        return std::move(mel).value();
    }
    std::vector<float> windowOf(const WavReader& wav, int window);

    QTemporaryDir m_dir;
    QByteArray m_filters;
    std::vector<std::byte> m_scratch;
};

void TestMel::initTestCase() {
    m_filters = sampleFilters();
    m_scratch.resize(MelFrontEnd::scratchBytes().size());
}

WavReader TestMel::sound(const std::vector<float>& samples) {
    const auto bytes = static_cast<quint32>(samples.size() * 4);
    QFile file(m_dir.filePath("sound.wav"));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write the test file");
    file.write(
        "RIFF" + le(quint32{36} + bytes) + "WAVEfmt " + le(quint32{16}) + le(quint16{3}) +
        le(quint16{1}) + le(quint32{16000}) + le(quint32{64000}) + le(quint16{4}) +
        le(quint16{32}) + "data" + le(bytes));
    file.write(reinterpret_cast<const char*>(samples.data()), qint64{bytes});
    file.close();
    auto wav = WavReader::open(file.fileName().toStdString());
    if (!wav)
        qFatal("%s", wav.error().line().c_str());
    return std::move(wav).value();
}

std::vector<float> TestMel::windowOf(const WavReader& wav, int window) {
    const MelFrontEnd mel = frontEnd();
    std::vector<float> out(std::size_t{kWindowFrames} * kMels);
    const auto prepared = mel.prepare(wav, m_scratch);
    if (!prepared || !mel.computeWindow(wav, window, *prepared, out.data(), kMels, m_scratch))
        qFatal("the sound cannot be read");
    return out;
}

void TestMel::agreesWithExactNumbersOnSampleClips_data() {
    QTest::addColumn<QString>("clip");
    QTest::newRow("is the camera running") << "syn-000";
    QTest::newRow("you have eight new messages") << "syn-007";
}

void TestMel::agreesWithExactNumbersOnSampleClips() {
    QFETCH(QString, clip);
    QFile golden(TEST_DATA_DIR "/sample/" + clip + ".mel_every4.f32");
    QVERIFY(golden.open(QIODevice::ReadOnly));
    const QByteArray bytes = golden.readAll(); // 80 x 100: frames 0, 4, ... 396, mel outermost
    QCOMPARE(bytes.size(), 80 * 100 * 4);
    const auto wav = WavReader::open((RESOURCES_DIR "/clips/" + clip + ".wav").toStdString());
    QVERIFY(wav.ok());
    const std::vector<float> out = windowOf(*wav, 0);
    double worst = 0;
    for (std::size_t m = 0; m < kMels; ++m)
        for (std::size_t f = 0; f < 100; ++f) {
            float exact;
            std::memcpy(&exact, bytes.data() + (m * 100 + f) * 4, 4);
            worst = std::max(worst, std::abs(static_cast<double>(exact - out[f * 4 * kMels + m])));
        }
    QVERIFY2(worst <= kTolerance, qPrintable(QString::number(worst)));
}

void TestMel::agreesWithTheDefinitionAtStartAndEnd_data() {
    QTest::addColumn<int>("samples");
    QTest::newRow("one sample") << 1;
    QTest::newRow("shorter than the mirrored start") << 150;
    QTest::newRow("one frame") << 400;
    QTest::newRow("between frames") << 4567;
}

void TestMel::agreesWithTheDefinitionAtStartAndEnd() {
    QFETCH(int, samples);
    const std::vector<float> input = testSound(static_cast<std::size_t>(samples));
    const std::vector<float> out = windowOf(sound(input), 0);
    const int frames = 40; // the rest is silence
    std::vector<std::vector<double>> exact;
    double maximum = -10;
    for (int f = 0; f < frames; ++f) {
        exact.push_back(exactFrame(input, m_filters, f));
        maximum = std::max(maximum, *std::max_element(exact.back().begin(), exact.back().end()));
    }
    for (std::size_t f = 0; f < kWindowFrames; ++f)
        for (std::size_t m = 0; m < kMels; ++m) {
            const double x = f < frames ? exact[f][m] : -10.0;
            const double difference = std::abs(out[f * kMels + m] - normalized(x, maximum));
            QVERIFY2(difference <= kTolerance, qPrintable(QString("frame %1").arg(f)));
        }
}

void TestMel::windowsShareSamplesAndTheMaximum() {
    std::vector<float> input = testSound(16000 * 65);
    for (std::size_t i = 16000 * 40; i < 16000 * 41; ++i)
        input[i] *= 3.0f; // the loudest second is in the second window
    const WavReader wav = sound(input);
    QCOMPARE(MelFrontEnd::windowCount(wav.sampleCount()), 3);
    const MelFrontEnd mel = frontEnd();
    const auto maximum = mel.prepare(wav, m_scratch);
    QVERIFY(maximum.ok());
    const std::vector<std::pair<int, std::size_t>> spots{{0, 0},    {0, 2999}, {1, 0},  {1, 1},
                                                         {1, 1050}, {2, 0},    {2, 499}};
    for (const auto& [window, frame] : spots) {
        const std::vector<float> out = windowOf(wav, window);
        const auto exact =
            exactFrame(input, m_filters, window * 3000 + static_cast<std::int64_t>(frame));
        for (std::size_t m = 0; m < kMels; ++m) {
            const double want = normalized(exact[m], static_cast<double>(*maximum));
            QVERIFY(std::abs(out[frame * kMels + m] - want) <= kTolerance);
        }
        // Quiet parts of every window are clamped against the same maximum.
        QVERIFY(*std::min_element(out.begin(), out.end()) >= (*maximum - 8) / 4 + 1);
    }
}

void TestMel::framesAreBitIdenticalHoweverSharedOut() {
    const WavReader wav = sound(testSound(16000 * 3 + 77));
    const MelFrontEnd mel = frontEnd();
    std::vector<float> whole(std::size_t{400} * kMels);
    const auto maximum = mel.computeFrames(wav, 0, 0, 400, whole.data(), kMels, m_scratch);
    QVERIFY(maximum.ok());
    for (const int part : {1, 3, 17, 150}) {
        std::vector<float> parts(whole.size());
        float partsMaximum = -10;
        for (int first = 0; first < 400; first += part) {
            const auto m = mel.computeFrames(
                wav, 0, first, std::min(first + part, 400),
                parts.data() + static_cast<std::size_t>(first) * kMels, kMels, m_scratch);
            QVERIFY(m.ok());
            partsMaximum = std::max(partsMaximum, *m);
        }
        QCOMPARE(std::memcmp(parts.data(), whole.data(), whole.size() * 4), 0);
        QCOMPARE(partsMaximum, *maximum);
    }
}

void TestMel::writesRowsAtTheGivenStrideOnly() {
    const WavReader wav = sound(testSound(16000));
    const MelFrontEnd mel = frontEnd();
    const std::size_t stride = 96;
    std::vector<float> out(std::size_t{kWindowFrames} * stride, 7.0f);
    const auto prepared = mel.prepare(wav, m_scratch);
    QVERIFY(prepared.ok());
    QVERIFY(mel.computeWindow(wav, 0, *prepared, out.data(), stride, m_scratch).ok());
    const std::vector<float> dense = windowOf(wav, 0);
    for (std::size_t f = 0; f < kWindowFrames; ++f) {
        QCOMPARE(std::memcmp(&out[f * stride], &dense[f * kMels], kMels * 4), 0);
        for (std::size_t i = kMels; i < stride; ++i)
            QCOMPARE(out[f * stride + i], 7.0f);
    }
}

void TestMel::silenceIsConstant() {
    for (const float x : windowOf(sound(std::vector<float>(5000)), 0))
        QCOMPARE(x, -1.5f); // -10 / 4 + 1: nothing is louder, so nothing is clamped
}

void TestMel::takesFiltersAtAnyAlignment() {
    const QByteArray shifted = "x" + m_filters;
    QVERIFY(MelFrontEnd::create({bytesOf(shifted).subspan(1), kMels}).ok());
}

void TestMel::refusesBadFilters_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("mels");
    QByteArray notANumber = m_filters;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(notANumber.data() + 400, &nan, 4);
    QTest::newRow("none") << QByteArray() << 0;
    QTest::newRow("negative") << QByteArray() << -1;
    QTest::newRow("too few bytes") << m_filters.left(1000) << kMels;
    QTest::newRow("a count that wraps") << QByteArray() << 0x40000000;
    QTest::newRow("not a number") << notANumber << kMels;
}

void TestMel::refusesBadFilters() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, mels);
    const auto mel = MelFrontEnd::create({bytesOf(bytes), mels});
    QVERIFY(!mel.ok());
    QCOMPARE(mel.error().code, base::ErrorCode::BadInput);
}

void TestMel::countsWindows_data() {
    QTest::addColumn<qint64>("samples");
    QTest::addColumn<int>("windows");
    QTest::newRow("one sample") << qint64{1} << 1;
    QTest::newRow("eleven seconds") << qint64{176000} << 1;
    QTest::newRow("exactly 30 s") << qint64{480000} << 1;
    QTest::newRow("30.1 s") << qint64{481600} << 1;
    QTest::newRow("30.2 s") << qint64{483200} << 2;
    QTest::newRow("65 s") << qint64{1040000} << 3;
    QTest::newRow("ten hours") << qint64{576000000} << 1200;
}

void TestMel::countsWindows() {
    QFETCH(qint64, samples);
    QFETCH(int, windows);
    QCOMPARE(MelFrontEnd::windowCount(samples), windows);
}

QTEST_GUILESS_MAIN(TestMel)
#include "tst_mel.moc"
