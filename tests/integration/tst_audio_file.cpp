// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <numbers>
#include <vector>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <sndfile.h>

#include "app/jobs/audio_file.h"

using namespace shardscope;
using app::JobControl;

namespace {

constexpr double kTone = 440;

/// A tone of one second.
QString tone(const QTemporaryDir& folder, int rate, int channels, int format) {
    const QString path = folder.filePath(QStringLiteral("tone.audio"));
    SF_INFO info{};
    info.samplerate = rate;
    info.channels = channels;
    info.format = format;
    SNDFILE* file = sf_open(QFile::encodeName(path).constData(), SFM_WRITE, &info);
    if (!file)
        return {};
    std::vector<float> samples(static_cast<std::size_t>(rate * channels));
    for (int i = 0; i < rate * channels; ++i)
        samples[static_cast<std::size_t>(i)] = static_cast<float>(
            0.5 * std::sin(2 * std::numbers::pi * kTone * (i / channels) / rate));
    sf_writef_float(file, samples.data(), rate);
    sf_close(file);
    return path;
}

std::vector<float> samplesOf(const QString& path, SF_INFO& info) {
    SNDFILE* file = sf_open(QFile::encodeName(path).constData(), SFM_READ, &info);
    if (!file)
        return {};
    std::vector<float> samples(static_cast<std::size_t>(info.frames * info.channels));
    sf_readf_float(file, samples.data(), info.frames);
    sf_close(file);
    return samples;
}

/// Power of the tone in the middle of the samples, 1 for half of full scale.
double toneLevel(const std::vector<float>& samples) {
    double re = 0, im = 0;
    const std::size_t first = 4000, last = 12000;
    for (std::size_t i = first; i < last; ++i) {
        const double phase = 2 * std::numbers::pi * kTone * static_cast<double>(i) / 16000;
        re += samples[i] * std::cos(phase);
        im += samples[i] * std::sin(phase);
    }
    return std::hypot(re, im) / (0.25 * static_cast<double>(last - first));
}

} // namespace

class TestAudioFile : public QObject {
    Q_OBJECT
private slots:
    void becomesSixteenKilohertzMono_data() {
        QTest::addColumn<int>("rate");
        QTest::addColumn<int>("channels");
        QTest::addColumn<int>("format");
        const int wav = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
        QTest::newRow("8 kHz mono") << 8000 << 1 << wav;
        QTest::newRow("44.1 kHz stereo") << 44100 << 2 << wav;
        QTest::newRow("48 kHz six channels") << 48000 << 6 << wav;
        QTest::newRow("16 kHz stereo") << 16000 << 2 << wav;
        QTest::newRow("16 kHz, 24 bit") << 16000 << 1 << (SF_FORMAT_WAV | SF_FORMAT_PCM_24);
        QTest::newRow("flac") << 22050 << 1 << (SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
        QTest::newRow("ogg vorbis") << 44100 << 2 << (SF_FORMAT_OGG | SF_FORMAT_VORBIS);
        QTest::newRow("ulaw au") << 8000 << 1 << (SF_FORMAT_AU | SF_FORMAT_ULAW);
    }
    void becomesSixteenKilohertzMono() {
        QFETCH(int, rate);
        QFETCH(int, channels);
        QFETCH(int, format);
        QTemporaryDir folder;
        const QString source = tone(folder, rate, channels, format);
        QVERIFY(!source.isEmpty());
        QVERIFY(!app::isModelAudio(source).value());
        JobControl job;
        auto made = app::modelAudio(source, folder.filePath(QStringLiteral("out")), job);
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().line().c_str());
        QVERIFY(app::isModelAudio(*made).value());
        SF_INFO info{};
        const auto samples = samplesOf(*made, info);
        QVERIFY2(std::abs(info.frames - 16000) <= 4, qPrintable(QString::number(info.frames)));
        const double level = toneLevel(samples);
        QVERIFY2(level > 0.97 && level < 1.03, qPrintable(QString::number(level)));
        QCOMPARE(job.progress(), 1.0);
        QVERIFY(QDir(QFileInfo(*made).path()).entryList({QStringLiteral("*.part")}).isEmpty());
    }

    void whatTheAgentTakesIsNotCopied() {
        QTemporaryDir folder;
        const QString source = tone(folder, 16000, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
        JobControl job;
        QCOMPARE(app::modelAudio(source, folder.path(), job).value(), source);
    }

    void convertsAFileOnce() {
        QTemporaryDir folder;
        const QString source = tone(folder, 8000, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
        JobControl job;
        const QString first = app::modelAudio(source, folder.path(), job).value();
        QFile made(first);
        QVERIFY(made.open(QIODevice::Append));
        made.write("mark");
        made.close();
        const qint64 marked = QFileInfo(first).size();
        QCOMPARE(app::modelAudio(source, folder.path(), job).value(), first);
        QCOMPARE(QFileInfo(first).size(), marked);
    }

    void namesWhatCannotBeRead_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("text") << QByteArray("no audio at all\n");
        QTest::newRow("riff alone") << QByteArray("RIFF\x10\0\0\0WAVE", 12);
        QTest::newRow("zeros") << QByteArray(10000, '\0');
    }
    void namesWhatCannotBeRead() {
        QFETCH(QByteArray, bytes);
        QTemporaryDir folder;
        QFile file(folder.filePath(QStringLiteral("odd.wav")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        file.close();
        JobControl job;
        auto made = app::modelAudio(file.fileName(), folder.filePath(QStringLiteral("out")), job);
        QVERIFY(!made.ok());
        QCOMPARE(made.error().code, base::ErrorCode::BadInput);
        QCOMPARE(made.error().where, file.fileName().toStdString());
        QVERIFY(!made.error().mend.empty());
        QVERIFY(
            !QDir(folder.filePath(QStringLiteral("out"))).exists() ||
            QDir(folder.filePath(QStringLiteral("out"))).isEmpty());
    }

    void namesAFileThatIsNotThere() {
        JobControl job;
        auto made = app::modelAudio(QStringLiteral("/nowhere/a.wav"), QStringLiteral("/x"), job);
        QVERIFY(!made.ok());
        QCOMPARE(made.error().code, base::ErrorCode::BadInput);
    }

    void aCancelledConversionLeavesNothing() {
        QTemporaryDir folder;
        const QString source = tone(folder, 44100, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
        JobControl job;
        job.cancel();
        const QString target = folder.filePath(QStringLiteral("out.wav"));
        QVERIFY(!app::convertAudio(source, target, job).ok());
        QCOMPARE(
            QDir(folder.path()).entryList(QDir::Files), QStringList{QStringLiteral("tone.audio")});
    }
};

QTEST_GUILESS_MAIN(TestAudioFile)
#include "tst_audio_file.moc"
