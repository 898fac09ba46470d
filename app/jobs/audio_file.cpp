// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/audio_file.h"

#include <memory>
#include <vector>

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUuid>

#include <sndfile.h>
#include <soxr.h>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

constexpr sf_count_t kBlock = 1 << 14; // frames

struct CloseSound {
    void operator()(SNDFILE* file) const { sf_close(file); }
};
struct EndResampler {
    void operator()(soxr* state) const { soxr_delete(state); }
};
using Sound = std::unique_ptr<SNDFILE, CloseSound>;
using Resampler = std::unique_ptr<soxr, EndResampler>;

Error unreadable(const QString& path, const std::string& why) {
    return {ErrorCode::BadInput, why, path.toStdString(), "give a WAV, FLAC, OGG or MP3 file"};
}

Error unwritable(const QString& path, const std::string& why) {
    return {
        ErrorCode::Failed, why, path.toStdString(),
        "look at free space and permissions of the data folder"};
}

Result<Sound> openSource(const QString& path, SF_INFO& info) {
    if (!QFileInfo::exists(path))
        return unreadable(path, "there is no such audio file");
    Sound sound(sf_open(QFile::encodeName(path).constData(), SFM_READ, &info));
    if (!sound)
        return unreadable(path, std::string("this is no audio: ") + sf_strerror(nullptr));
    if (info.channels < 1 || info.samplerate < 1000 || info.samplerate > 1000000)
        return unreadable(path, "the sample rate or channel count is impossible");
    if (info.frames == 0)
        return unreadable(path, "the audio file is empty");
    return sound;
}

/// Reads a block and mixes its channels; the frames read.
std::size_t
readMono(SNDFILE* source, int channels, std::vector<float>& raw, std::vector<float>& mono) {
    const sf_count_t frames = sf_readf_float(source, raw.data(), kBlock);
    const auto count = static_cast<std::size_t>(frames), width = static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (std::size_t c = 0; c < width; ++c)
            sum += raw[i * width + c];
        mono[i] = sum / static_cast<float>(channels);
    }
    return count;
}

/// Copies the samples of an open source to an open target. Where `resampler` is null, as they are.
Status copySamples(
    SNDFILE* source, const SF_INFO& info, SNDFILE* target, soxr* resampler, JobControl& job) {
    std::vector<float> raw(static_cast<std::size_t>(kBlock * info.channels));
    std::vector<float> mono(kBlock);
    const double ratio = double(kModelRate) / info.samplerate;
    std::vector<float> out(static_cast<std::size_t>(double(kBlock) * ratio) + 4096);
    sf_count_t done = 0, written = 0;
    for (bool more = true; more;) {
        if (job.isCancelled())
            return Error{ErrorCode::Failed, "the conversion was cancelled", "audio", ""};
        const std::size_t frames = readMono(source, info.channels, raw, mono);
        more = frames > 0;
        if (!resampler) {
            written += sf_writef_float(target, mono.data(), static_cast<sf_count_t>(frames));
        } else {
            // Without input it gives what it still holds, a piece at a time.
            std::size_t at = 0, used = 0, count = 0;
            do {
                if (soxr_process(
                        resampler, more ? mono.data() + at : nullptr, frames - at, &used,
                        out.data(), out.size(), &count))
                    return Error{ErrorCode::Failed, "the resampler failed", "audio", ""};
                at += used;
                written += sf_writef_float(target, out.data(), static_cast<sf_count_t>(count));
            } while (more ? at < frames : count > 0);
        }
        done += static_cast<sf_count_t>(frames);
        if (info.frames > 0)
            job.setProgress(static_cast<double>(done) / static_cast<double>(info.frames));
    }
    if (sf_error(target))
        return Error{ErrorCode::Failed, sf_strerror(target), "audio", "look at free space"};
    if (written == 0)
        return Error{ErrorCode::BadInput, "the audio file holds no samples", "audio", ""};
    return {};
}

Status convertTo(const QString& source, const QString& part, JobControl& job) {
    SF_INFO info{};
    auto sound = openSource(source, info);
    if (!sound)
        return sound.error();
    SF_INFO made{};
    made.samplerate = kModelRate;
    made.channels = 1;
    made.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
    Sound target(sf_open(QFile::encodeName(part).constData(), SFM_WRITE, &made));
    if (!target)
        return unwritable(part, sf_strerror(nullptr));
    Resampler resampler;
    if (info.samplerate != kModelRate) {
        soxr_error_t failed = nullptr;
        const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
        resampler.reset(
            soxr_create(info.samplerate, kModelRate, 1, &failed, nullptr, &quality, nullptr));
        if (failed || !resampler)
            return unreadable(source, "this sample rate cannot be converted");
    }
    Status status = copySamples(sound->get(), info, target.get(), resampler.get(), job);
    if (!status) {
        Error error = status.error();
        error.where = source.toStdString();
        return error;
    }
    return {};
}

} // namespace

Result<bool> isModelAudio(const QString& path) {
    SF_INFO info{};
    auto sound = openSource(path, info);
    if (!sound)
        return sound.error();
    const int container = info.format & SF_FORMAT_TYPEMASK;
    const int samples = info.format & SF_FORMAT_SUBMASK;
    return (container == SF_FORMAT_WAV || container == SF_FORMAT_WAVEX) && info.channels == 1 &&
           info.samplerate == kModelRate &&
           (samples == SF_FORMAT_PCM_16 || samples == SF_FORMAT_FLOAT);
}

Status convertAudio(const QString& source, const QString& target, JobControl& job) {
    const QString part = target + QLatin1Char('.') +
                         QUuid::createUuid().toString(QUuid::Id128).left(8) +
                         QStringLiteral(".part");
    Status status = convertTo(source, part, job);
    if (status) {
        QFile::remove(target);
        if (!QFile::rename(part, target))
            status = unwritable(target, "the converted audio cannot be put in place");
    }
    if (!status)
        QFile::remove(part);
    return status;
}

Result<QString> modelAudio(const QString& path, const QString& folder, JobControl& job) {
    auto asItIs = isModelAudio(path);
    if (!asItIs)
        return asItIs.error();
    if (*asItIs)
        return path;
    const QFileInfo file(path);
    const QString identity = QStringLiteral("%1|%2|%3")
                                 .arg(
                                     file.canonicalFilePath(), QString::number(file.size()),
                                     QString::number(file.lastModified().toMSecsSinceEpoch()));
    const QString hash = QString::fromLatin1(
        QCryptographicHash::hash(identity.toUtf8(), QCryptographicHash::Sha256).toHex().left(12));
    const QString place = folder + QLatin1Char('/') + hash;
    // The name stays, for the titles of runs.
    const QString target =
        place + QLatin1Char('/') + file.completeBaseName() + QStringLiteral(".wav");
    if (QFileInfo::exists(target))
        return target;
    if (!QDir().mkpath(place))
        return unwritable(place, "the folder for converted audio cannot be made");
    if (Status status = convertAudio(path, target, job); !status) {
        QDir().rmdir(place);
        return status.error();
    }
    return target;
}

} // namespace shardscope::app
