// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <QTemporaryDir>
#include <QTest>

#include "device_agent/engine/audio/wav_reader.h"

using namespace shardscope;
using audio::WavReader;

namespace {

template <typename T>
QByteArray le(T value) {
    return QByteArray(reinterpret_cast<const char*>(&value), sizeof value);
}

QByteArray chunk(const char* tag, const QByteArray& content) {
    const bool odd = content.size() % 2 != 0;
    return QByteArray(tag) + le(static_cast<quint32>(content.size())) + content +
           (odd ? QByteArray(1, '\0') : QByteArray());
}

QByteArray riff(const QByteArray& chunks) {
    return "RIFF" + le(static_cast<quint32>(4 + chunks.size())) + "WAVE" + chunks;
}

QByteArray format(quint16 tag, quint16 channels, quint32 rate, quint16 bits) {
    const auto block = static_cast<quint16>(channels * bits / 8);
    return le(tag) + le(channels) + le(rate) + le(rate * block) + le(block) + le(bits);
}

QByteArray extensible(quint16 tag, quint16 bits) {
    static const char kRest[] = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71";
    return format(0xFFFE, 1, 16000, bits) + le(quint16{22}) + le(bits) + le(quint32{4}) + le(tag) +
           QByteArray(kRest, 14);
}

QByteArray pcm(const std::vector<qint16>& samples) {
    return QByteArray(
        reinterpret_cast<const char*>(samples.data()), static_cast<qsizetype>(samples.size() * 2));
}

QByteArray floats(const std::vector<float>& samples) {
    return QByteArray(
        reinterpret_cast<const char*>(samples.data()), static_cast<qsizetype>(samples.size() * 4));
}

const QByteArray kPcm16k = format(1, 1, 16000, 16);
const std::vector<qint16> kThree{16384, -32768, 1};
const std::vector<float> kThreeRead{0.5f, -1.0f, 1.0f / 32768.0f};

} // namespace

class TestWavReader : public QObject {
    Q_OBJECT

private slots:
    void readsWhatItSupports_data();
    void readsWhatItSupports();
    void refusesEverythingElseWithOneClearLine_data();
    void refusesEverythingElseWithOneClearLine();
    void namesTheConversionCommand();
    void everyTruncationEndsInErrorOrSamples();
    void readsAcrossItsBufferAndPastTheEnd();
    void tamesWildFloats();
    void refusesFoldersAndMissingFiles();
    void reportsAFileThatShrank();

private:
    std::string write(const QByteArray& bytes) {
        const QString path = m_dir.filePath("a.wav");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write the test file");
        return path.toStdString();
    }
    QTemporaryDir m_dir;
};

void TestWavReader::readsWhatItSupports_data() {
    QTest::addColumn<QByteArray>("bytes");
    const QByteArray data = chunk("data", pcm(kThree));
    const QByteArray plain = chunk("fmt ", kPcm16k);
    QTest::newRow("16-bit PCM") << riff(plain + data);
    QTest::newRow("32-bit float") << riff(
        chunk("fmt ", format(3, 1, 16000, 32)) + chunk("data", floats(kThreeRead)));
    QTest::newRow("extensible PCM") << riff(chunk("fmt ", extensible(1, 16)) + data);
    QTest::newRow("extensible float")
        << riff(chunk("fmt ", extensible(3, 32)) + chunk("data", floats(kThreeRead)));
    QTest::newRow("chunks before and after") << riff(
        chunk("LIST", "INFOISFT") + plain + chunk("fact", "1234") + data + chunk("LIST", "after"));
    QTest::newRow("chunk of odd size before") << riff(plain + chunk("junk", "odd") + data);
    QTest::newRow("half a sample at the end")
        << riff(plain) + "data" + le(quint32{7}) + pcm(kThree) + "x";
    QTest::newRow("data length never filled in")
        << riff(plain) + "data" + le(quint32{0xFFFFFFFF}) + pcm(kThree);
    QTest::newRow("RIFF length never filled in") << "RIFF" + le(quint32{0}) + "WAVE" + plain + data;
}

void TestWavReader::readsWhatItSupports() {
    QFETCH(QByteArray, bytes);
    const auto wav = WavReader::open(write(bytes));
    QVERIFY2(wav.ok(), wav.ok() ? "" : wav.error().line().c_str());
    QCOMPARE(wav->sampleCount(), 3);
    std::vector<float> samples(5, 9.0f);
    QVERIFY(wav->read(0, samples).ok());
    for (std::size_t i = 0; i < 3; ++i)
        QCOMPARE(samples[i], kThreeRead[i]);
    QCOMPARE(samples[3], 0.0f);
    QCOMPARE(samples[4], 0.0f);
}

void TestWavReader::refusesEverythingElseWithOneClearLine_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const QByteArray data = chunk("data", pcm(kThree));
    const QByteArray plain = chunk("fmt ", kPcm16k);
    const auto with = [&](const QByteArray& f) { return riff(chunk("fmt ", f) + data); };
    QTest::newRow("empty file") << QByteArray() << "is empty";
    QTest::newRow("foreign magic") << "OggS" + QByteArray(99, '\0') << "not a RIFF WAVE";
    QTest::newRow("RIFF of another kind") << "RIFF" + le(quint32{4}) + "AVI "
                                          << "not a RIFF WAVE";
    QTest::newRow("no data chunk") << riff(plain) << "no data chunk";
    QTest::newRow("chunk beyond the end") << riff(plain) + "LIST" + le(quint32{0xFFFFFFFF}) + "abcd"
                                          << "no data chunk";
    QTest::newRow("endless empty chunks")
        << riff(plain + chunk("junk", "").repeated(5000) + data) << "no data chunk";
    QTest::newRow("samples before the format") << riff(data + plain) << "no format";
    QTest::newRow("format too short") << riff(chunk("fmt ", "short") + data) << "cut short";
    QTest::newRow("zero rate") << with(format(1, 1, 0, 16)) << "0 Hz";
    QTest::newRow("no channel") << with(format(1, 0, 16000, 16)) << "0 channels";
    QTest::newRow("44.1 kHz") << with(format(1, 1, 44100, 16)) << "44100 Hz with 1 channel,";
    QTest::newRow("stereo") << with(format(1, 2, 16000, 16)) << "with 2 channels";
    QTest::newRow("8-bit") << with(format(1, 1, 16000, 8)) << "8-bit";
    QTest::newRow("24-bit") << with(format(1, 1, 16000, 24)) << "24-bit";
    QTest::newRow("64-bit float") << with(format(3, 1, 16000, 64)) << "64-bit";
    QTest::newRow("mu-law") << with(format(7, 1, 16000, 8)) << "format 7";
    QTest::newRow("extensible of another kind") << with(extensible(7, 16)) << "format 7";
    QByteArray block = kPcm16k;
    block[12] = 0;
    QTest::newRow("zero block size") << with(block) << "in 0 bytes";
    QTest::newRow("no samples") << riff(plain + chunk("data", "")) << "no samples";
    QTest::newRow("half a sample") << riff(plain + chunk("data", "x")) << "no samples";
}

void TestWavReader::refusesEverythingElseWithOneClearLine() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    const auto wav = WavReader::open(write(bytes));
    QVERIFY(!wav.ok());
    QCOMPARE(wav.error().code, base::ErrorCode::BadInput);
    const QString line = QString::fromStdString(wav.error().line());
    QVERIFY2(line.contains(says), qPrintable(line));
    QVERIFY2(line.contains("a.wav: ") && !line.contains('\n'), qPrintable(line));
}

void TestWavReader::namesTheConversionCommand() {
    const auto wav = WavReader::open(
        write(riff(chunk("fmt ", format(1, 2, 48000, 16)) + chunk("data", pcm(kThree)))));
    QVERIFY(!wav.ok());
    const QString mend = QString::fromStdString(wav.error().mend);
    QVERIFY(mend.contains("ffmpeg -i IN -ar 16000 -ac 1 -c:a pcm_s16le OUT.wav"));
    QVERIFY(mend.contains("desktop program converts by itself"));
}

void TestWavReader::everyTruncationEndsInErrorOrSamples() {
    const QByteArray whole =
        riff(chunk("LIST", "odd") + chunk("fmt ", extensible(1, 16)) + chunk("data", pcm(kThree)));
    for (qsizetype n = 0; n <= whole.size(); ++n) {
        const auto wav = WavReader::open(write(whole.left(n)));
        if (wav.ok()) {
            std::vector<float> samples(8);
            QVERIFY(wav->read(0, samples).ok());
            QCOMPARE(wav->sampleCount(), (n - (whole.size() - 6)) / 2);
        } else {
            QCOMPARE(wav.error().code, base::ErrorCode::BadInput);
        }
    }
}

void TestWavReader::readsAcrossItsBufferAndPastTheEnd() {
    std::vector<qint16> samples(10000);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<qint16>(i);
    const auto wav =
        WavReader::open(write(riff(chunk("fmt ", kPcm16k) + chunk("data", pcm(samples)))));
    QVERIFY(wav.ok());
    std::vector<float> out(9000);
    QVERIFY(wav->read(3000, out).ok());
    for (std::size_t i = 0; i < out.size(); ++i)
        QCOMPARE(out[i], i < 7000 ? static_cast<float>(3000 + i) / 32768.0f : 0.0f);
    QVERIFY(wav->read(50000, out).ok());
    QCOMPARE(out.front(), 0.0f);
    QCOMPARE(out.back(), 0.0f);
}

void TestWavReader::tamesWildFloats() {
    const float inf = std::numeric_limits<float>::infinity();
    const auto wav = WavReader::open(write(riff(
        chunk("fmt ", format(3, 1, 16000, 32)) +
        chunk("data", floats({std::nanf(""), inf, -inf, 1e30f, -1e30f, 0.25f})))));
    QVERIFY(wav.ok());
    std::vector<float> out(6);
    QVERIFY(wav->read(0, out).ok());
    QCOMPARE(out, (std::vector<float>{0.0f, 0.0f, 0.0f, 1e6f, -1e6f, 0.25f}));
}

void TestWavReader::refusesFoldersAndMissingFiles() {
    const auto folder = WavReader::open(m_dir.path().toStdString());
    QVERIFY(!folder.ok());
    QCOMPARE(folder.error().code, base::ErrorCode::BadInput);
    const auto missing = WavReader::open(m_dir.filePath("none.wav").toStdString());
    QVERIFY(!missing.ok());
    QCOMPARE(missing.error().code, base::ErrorCode::BadInput);
}

void TestWavReader::reportsAFileThatShrank() {
    const QByteArray bytes = riff(chunk("fmt ", kPcm16k) + chunk("data", pcm(kThree)));
    const std::string path = write(bytes);
    const auto wav = WavReader::open(path);
    QVERIFY(wav.ok());
    QVERIFY(QFile::resize(QString::fromStdString(path), bytes.size() - 4));
    std::vector<float> out(3);
    const auto status = wav->read(0, out);
    QVERIFY(!status.ok());
    QCOMPARE(status.error().code, base::ErrorCode::Failed);
}

QTEST_GUILESS_MAIN(TestWavReader)
#include "tst_wav_reader.moc"
