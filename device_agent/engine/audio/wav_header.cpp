// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/audio/wav_header.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "device_agent/engine/audio/wav_reader.h"
#include "sim_engine/base/bytes.h"
#include "sim_engine/base/format.h"

namespace shardscope::audio {

namespace {

constexpr std::uint16_t kTagPcm = 1;
constexpr std::uint16_t kTagFloat = 3;
constexpr std::uint16_t kTagExtensible = 0xFFFE;
constexpr int kMostChunks = 4096; // a file of empty chunks shall not keep us reading for hours

/// The fmt chunk, as far as it matters.
struct Format {
    std::uint16_t tag = 0;
    std::uint16_t channels = 0;
    std::uint32_t rate = 0;
    std::uint16_t blockBytes = 0;
    std::uint16_t bits = 0;
};

base::Error badWav(std::string what, const std::string& path) {
    return {
        base::ErrorCode::BadInput, std::move(what), path,
        "convert it with `ffmpeg -i IN -ar 16000 -ac 1 -c:a pcm_s16le OUT.wav` (the desktop "
        "program converts by itself)"};
}

bool isTag(const std::byte* at, const char (&tag)[5]) {
    return std::memcmp(at, tag, 4) == 0;
}

/// All but the first two bytes of the GUID that stands for a plain format tag.
constexpr unsigned char kGuidRest[14] = {0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80,
                                         0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71};

/// Reads a fmt chunk of `bytes` bytes at `offset`; false when it is too short.
bool readFormat(int fd, std::int64_t offset, std::int64_t bytes, Format& format) {
    std::array<std::byte, 40> raw{};
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(bytes, 40));
    if (n < 16 || !readFully(fd, offset, std::span(raw).first(n)))
        return false;
    format.tag = base::loadAs<std::uint16_t>(&raw[0]);
    format.channels = base::loadAs<std::uint16_t>(&raw[2]);
    format.rate = base::loadAs<std::uint32_t>(&raw[4]);
    format.blockBytes = base::loadAs<std::uint16_t>(&raw[12]);
    format.bits = base::loadAs<std::uint16_t>(&raw[14]);
    if (format.tag == kTagExtensible && n == 40 && std::memcmp(&raw[26], kGuidRest, 14) == 0)
        format.tag = base::loadAs<std::uint16_t>(&raw[24]);
    return true;
}

/// Ok only for what the models hear: 16 kHz mono, 16-bit PCM or 32-bit float.
base::Status checkFormat(const Format& f, const std::string& path) {
    if (f.rate == 0 || f.channels == 0)
        return badWav(
            base::formatted("the WAV header is damaged (%u Hz, %u channels)", f.rate, f.channels),
            path);
    if (f.rate != static_cast<std::uint32_t>(kSampleRate) || f.channels != 1)
        return badWav(
            base::formatted(
                "the audio is %u Hz with %u channel%s, not 16000 Hz mono", f.rate, f.channels,
                f.channels == 1 ? "" : "s"),
            path);
    const bool known = (f.tag == kTagPcm && f.bits == 16) || (f.tag == kTagFloat && f.bits == 32);
    if (!known || f.blockBytes != f.bits / 8)
        return badWav(
            base::formatted(
                "the audio is %u-bit in %u bytes of format %u, not 16-bit PCM or 32-bit float",
                f.bits, f.blockBytes, f.tag),
            path);
    return {};
}

base::Result<WavLayout>
layoutOf(const Format& format, std::int64_t offset, std::int64_t bytes, const std::string& path) {
    if (const auto status = checkFormat(format, path); !status)
        return status.error();
    WavLayout layout;
    layout.dataOffset = offset;
    layout.samples = bytes / format.blockBytes;
    layout.isFloat = format.tag == kTagFloat;
    if (layout.samples == 0)
        return base::Error{
            base::ErrorCode::BadInput, "no samples", path, "give a recording that is not empty"};
    return layout;
}

} // namespace

bool readFully(int fd, std::int64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
        const ssize_t n = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        out = out.subspan(static_cast<std::size_t>(n));
        offset += n;
    }
    return true;
}

base::Result<WavLayout> findWavSamples(int fd, std::int64_t fileBytes, const std::string& path) {
    if (fileBytes == 0)
        return badWav("the audio file is empty", path);
    std::array<std::byte, 12> head{};
    if (!readFully(fd, 0, head) || !isTag(&head[0], "RIFF") || !isTag(&head[8], "WAVE"))
        return badWav("not a RIFF WAVE file", path);

    Format format;
    bool hasFormat = false;
    std::int64_t at = 12;
    for (int chunk = 0; chunk < kMostChunks && fileBytes - at >= 8; ++chunk) {
        if (!readFully(fd, at, std::span(head).first(8)))
            break;
        const std::int64_t content = at + 8;
        const std::int64_t claimed = base::loadAs<std::uint32_t>(&head[4]);
        const std::int64_t bytes = std::min(claimed, fileBytes - content);
        if (isTag(&head[0], "fmt ")) {
            if (!readFormat(fd, content, bytes, format))
                return badWav("the WAV header is cut short", path);
            hasFormat = true;
        } else if (isTag(&head[0], "data")) {
            if (!hasFormat)
                return badWav("the WAV header has no format before its samples", path);
            return layoutOf(format, content, bytes, path);
        }
        at = content + claimed + (claimed & 1); // chunks are padded to even sizes
    }
    return badWav("the WAV file has no data chunk", path);
}

} // namespace shardscope::audio
