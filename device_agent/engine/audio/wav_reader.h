// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::audio {

constexpr std::int32_t kSampleRate = 16000; ///< Hz; the only rate Whisper models hear

/// A RIFF WAVE file of 16 kHz mono samples, 16-bit PCM or 32-bit float, read piece by piece.
///
/// Every number of the header is checked against the size of the file before it is used.
/// Thread-safe once open: reads carry their own position.
class WavReader {
public:
    /// Errors: BadInput for a file that is missing, foreign, without samples, or of another rate,
    /// channel count or encoding (the mend then names the command that converts it).
    static base::Result<WavReader> open(const std::string& path);

    WavReader(WavReader&& other) noexcept;
    WavReader& operator=(WavReader&& other) noexcept;
    ~WavReader();

    std::int64_t sampleCount() const { return m_samples; } ///< at least 1
    double seconds() const { return static_cast<double>(m_samples) / kSampleRate; }
    const std::string& path() const { return m_path; }

    /// Fills `out` with samples from `firstSample` >= 0 on; zeros past the end. 16-bit samples are
    /// scaled by 1/32768. Float samples are taken as they are, except that what is not a number or
    /// infinite reads as 0 and what is beyond +-1e6 as +-1e6, so that no later sum overflows.
    /// Allocates nothing. Errors: Failed when the file cannot be read or has shrunk.
    base::Status read(std::int64_t firstSample, std::span<float> out) const;

private:
    WavReader(int fd, std::string path) : m_fd(fd), m_path(std::move(path)) {}

    int m_fd = -1;
    std::string m_path;
    std::int64_t m_dataOffset = 0; ///< bytes from the start of the file
    std::int64_t m_samples = 0;
    bool m_isFloat = false;
};

} // namespace shardscope::audio
