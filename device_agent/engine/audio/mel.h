// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_agent/engine/audio/fft400.h"
#include "device_agent/engine/audio/wav_reader.h"
#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::audio {

constexpr int kFftSize = 400;        ///< samples under one frame's window
constexpr int kHop = 160;            ///< samples from frame to frame (10 ms)
constexpr int kBins = Fft400::kBins; ///< of the power spectrum
constexpr int kWindowFrames = 3000;  ///< frames the encoder takes at once (30 s)

/// The mel filter bank as it stands in a model file: melCount x kBins little-endian float32, mel
/// outermost, at any alignment.
struct MelFilters {
    std::span<const std::byte> bytes;
    int melCount = 0; ///< 80, or 128 for large-v3
};

/// The log-mel spectrogram that Whisper models hear (Radford et al. 2022, section 2.2).
///
/// Frame f covers samples [160 f - 200, 160 f + 200): the 200 before the first are its mirror
/// image, all after the last are zero. Hann window, power spectrum, filter bank, log10 (of at least
/// 1e-10); then, with the maximum over the whole recording, max(x, maximum - 8) / 4 + 1.
///
/// Windows follow each other: frame f of window w is frame 3000 w + f of the recording. Two steps,
/// so that a caller may share the frames out among threads: computeFrames() on any ranges, each
/// thread with its own scratch, then normalize() with the maximum. computeWindow() does both.
///
/// Thread-safe once created; nothing after create() allocates. Results do not depend on how frames
/// are shared out.
class MelFrontEnd {
public:
    /// Copies the filters that are not zero. Errors: BadInput when the bytes are not melCount x
    /// kBins floats or one of them is not finite.
    static base::Result<MelFrontEnd> create(MelFilters filters);

    int melCount() const { return m_melCount; }

    /// Working memory of one thread, for any range of frames, at any alignment.
    static base::Bytes scratchBytes();

    /// How many frames of a recording touch its samples; all later ones are silence.
    static std::int64_t audioFrames(std::int64_t sampleCount);

    /// Frames from the begin of a recording to its end: what times are held against.
    static std::int64_t lengthFrames(std::int64_t sampleCount);

    /// Windows needed for a recording, at least 1. A rest of 100 ms or less makes no window of its
    /// own.
    static int windowCount(std::int64_t sampleCount);

    /// log10 mel energies of frames [firstFrame, lastFrame) of `window` (0 <= firstFrame <=
    /// lastFrame <= kWindowFrames), not yet normalized: out[(f - firstFrame) * stride + mel],
    /// stride >= melCount() floats. Returns their maximum (-10 when there are none).
    base::Result<float> computeFrames(
        const WavReader& wav, int window, int firstFrame, int lastFrame, float* out,
        std::size_t stride, std::span<std::byte> scratch) const;

    /// The maximum of the log10 mel energies over frames [firstFrame, lastFrame) of the recording.
    base::Result<float> maximumOfFrames(
        const WavReader& wav, std::int64_t firstFrame, std::int64_t lastFrame,
        std::span<std::byte> scratch) const;

    /// What must be known before the first window can be normalized, besides that window's own
    /// maximum: the maximum over the recording, read once through, or, when one window holds all,
    /// over the few frames after it (for nothing, mostly).
    base::Result<float> prepare(const WavReader& wav, std::span<std::byte> scratch) const;

    /// max(x, maximum - 8) / 4 + 1 in place, for `frames` rows of melCount() floats.
    void normalize(float* rows, std::size_t stride, int frames, float maximum) const;

    /// All kWindowFrames frames of `window`, normalized; `prepared` comes from prepare().
    base::Status computeWindow(
        const WavReader& wav, int window, float prepared, float* out, std::size_t stride,
        std::span<std::byte> scratch) const;

private:
    struct Scratch;

    /// One filter: the bins where it is not zero. Their weights follow each other in m_weights.
    struct Filter {
        int firstBin = 0;
        int binCount = 0;
    };

    MelFrontEnd() = default;

    static Scratch& scratchIn(std::span<std::byte> bytes);

    /// Frames [first, last) of the recording; `out` may be null when only the maximum is wanted.
    base::Result<float> computeRange(
        const WavReader& wav, std::int64_t first, std::int64_t last, float* out, std::size_t stride,
        std::span<std::byte> scratch) const;

    /// Four frames from `samples` on, of which the first `frames` are written; their maximum.
    float
    computeFour(const float* samples, int frames, float* out, std::size_t stride, Scratch& s) const;

    int m_melCount = 0;
    std::vector<Filter> m_filters;
    std::vector<float> m_weights;
    std::array<float, kFftSize> m_window{}; ///< periodic Hann
    Fft400 m_fft;
};

} // namespace shardscope::audio
