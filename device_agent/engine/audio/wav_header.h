// SPDX-License-Identifier: GPL-3.0-or-later
// Where the samples of a RIFF WAVE file are (Multimedia Programming Interface and Data
// Specifications 1.0, 1991; WAVE_FORMAT_EXTENSIBLE of 1999).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::audio {

struct WavLayout {
    std::int64_t dataOffset = 0; ///< bytes from the start of the file
    std::int64_t samples = 0;    ///< at least 1
    bool isFloat = false;        ///< 32-bit float, else 16-bit integer
};

/// Walks the chunks of a file of `fileBytes` bytes to the first data chunk. A data length beyond
/// the end (what recorders write that never came to fill it in) means all that is there. Errors:
/// BadInput, see WavReader::open().
base::Result<WavLayout> findWavSamples(int fd, std::int64_t fileBytes, const std::string& path);

/// Reads all of `out` from byte `offset` on; false when that is not there.
bool readFully(int fd, std::int64_t offset, std::span<std::byte> out);

} // namespace shardscope::audio
