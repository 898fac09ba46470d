// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/audio/wav_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_agent/engine/audio/wav_header.h"
#include "sim_engine/base/bytes.h"

namespace shardscope::audio {

namespace {

constexpr float kLoudest = 1e6f;

float tamed(float sample) {
    if (!std::isfinite(sample))
        return 0.0f;
    return std::clamp(sample, -kLoudest, kLoudest);
}

void fromInt16(const std::byte* in, std::span<float> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(base::loadAs<std::int16_t>(in + 2 * i)) * (1.0f / 32768.0f);
}

void fromFloat(const std::byte* in, std::span<float> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = tamed(base::loadAs<float>(in + 4 * i));
}

} // namespace

base::Result<WavReader> WavReader::open(const std::string& path) {
    // Without O_NONBLOCK a named pipe would hold us here before fstat can refuse it.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return base::Error{
            base::ErrorCode::BadInput,
            std::string("cannot open the audio file: ") + std::strerror(errno), path,
            "check the path and its permissions"};
    WavReader wav(fd, path);
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return base::Error{
            base::ErrorCode::BadInput, "not a regular file", path, "give a WAV file"};
    const auto layout = findWavSamples(fd, static_cast<std::int64_t>(info.st_size), path);
    if (!layout)
        return layout.error();
    wav.m_dataOffset = layout->dataOffset;
    wav.m_samples = layout->samples;
    wav.m_isFloat = layout->isFloat;
    return wav;
}

WavReader::WavReader(WavReader&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_path(std::move(other.m_path)),
      m_dataOffset(other.m_dataOffset), m_samples(other.m_samples), m_isFloat(other.m_isFloat) {}

WavReader& WavReader::operator=(WavReader&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    std::swap(m_path, other.m_path);
    m_dataOffset = other.m_dataOffset;
    m_samples = other.m_samples;
    m_isFloat = other.m_isFloat;
    return *this;
}

WavReader::~WavReader() {
    if (m_fd >= 0)
        ::close(m_fd);
}

base::Status WavReader::read(std::int64_t firstSample, std::span<float> out) const {
    const std::int64_t there = std::max<std::int64_t>(m_samples - firstSample, 0);
    const std::size_t wanted = there < static_cast<std::int64_t>(out.size())
                                   ? static_cast<std::size_t>(there)
                                   : out.size();
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(wanted), out.end(), 0.0f);

    const std::size_t width = m_isFloat ? 4 : 2;
    std::array<std::byte, 8192> raw;
    for (std::size_t done = 0; done < wanted;) {
        const std::size_t n = std::min(wanted - done, raw.size() / width);
        const std::int64_t at = m_dataOffset + (firstSample + static_cast<std::int64_t>(done)) *
                                                   static_cast<std::int64_t>(width);
        if (!readFully(m_fd, at, std::span(raw).first(n * width)))
            return base::Error{
                base::ErrorCode::Failed, "the audio file cannot be read any more",
                m_path + " at byte " + std::to_string(at), "it must not change during a run"};
        const auto part = out.subspan(done, n);
        m_isFloat ? fromFloat(raw.data(), part) : fromInt16(raw.data(), part);
        done += n;
    }
    return {};
}

} // namespace shardscope::audio
