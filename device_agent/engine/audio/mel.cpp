// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/audio/mel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <utility>

#include "sim_engine/base/bytes.h"
#include "sim_engine/base/format.h"

namespace shardscope::audio {

namespace {

constexpr int kChunkFrames = 16; // frames whose samples are read at once
constexpr int kChunkSamples = (kChunkFrames - 1) * kHop + kFftSize;
constexpr int kEdge = kFftSize / 2; // samples a frame reaches back from its middle
constexpr float kFloor = 1e-10f;    // least mel energy
constexpr float kSilence = -10.0f;  // its log10
constexpr float kRange = 8.0f;      // log10 energies kept below the maximum
constexpr int kMostMels = 4096;

/// The samples of kChunkFrames frames from `frame` on, mirrored before the start.
base::Status
readChunk(const WavReader& wav, std::int64_t frame, std::array<float, kChunkSamples>& out) {
    const std::int64_t begin = frame * kHop - kEdge;
    const auto before = static_cast<std::size_t>(std::max<std::int64_t>(-begin, 0));
    const auto status = wav.read(std::max<std::int64_t>(begin, 0), std::span(out).subspan(before));
    for (std::size_t i = 0; i < before; ++i)
        out[i] = out[2 * before - i];
    return status;
}

/// Four windowed frames, kHop samples apart, as pairs of even and odd samples.
void windowed(
    const float* samples, const std::array<float, kFftSize>& window, ComplexLanes* pairs) {
    const auto at = [&](int i) {
        const Lanes x{samples[i], samples[i + kHop], samples[i + 2 * kHop], samples[i + 3 * kHop]};
        return x * window[static_cast<std::size_t>(i)];
    };
    for (int n = 0; n < Fft400::kPairs; ++n)
        pairs[n] = {at(2 * n), at(2 * n + 1)};
}

float log10Energy(float energy) {
    // log2 is the fast one of the C library; written so that NaN gives the floor.
    return std::log2(energy > kFloor ? energy : kFloor) *
           static_cast<float>(std::numbers::ln2 / std::numbers::ln10);
}

} // namespace

struct MelFrontEnd::Scratch {
    std::array<float, kChunkSamples> samples;
    std::array<ComplexLanes, Fft400::kPairs> pairs;
    std::array<ComplexLanes, Fft400::kPairs> work;
    std::array<Lanes, kBins> power;
};

base::Result<MelFrontEnd> MelFrontEnd::create(MelFilters filters) {
    const auto bad = [](std::string what) {
        return base::Error{
            base::ErrorCode::BadInput, std::move(what), "mel filters of the model",
            "the file is damaged or no ggml Whisper model: fetch it again"};
    };
    if (filters.melCount < 1 || filters.melCount > kMostMels ||
        filters.bytes.size() != static_cast<std::size_t>(filters.melCount) * kBins * 4)
        return bad(base::formatted(
            "%zu bytes are not %d filters of %d floats", filters.bytes.size(), filters.melCount,
            kBins));

    MelFrontEnd mel;
    mel.m_melCount = filters.melCount;
    for (int m = 0; m < kFftSize; ++m)
        mel.m_window[static_cast<std::size_t>(m)] =
            static_cast<float>(0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * m / kFftSize));
    for (int m = 0; m < filters.melCount; ++m) {
        std::array<float, kBins> row;
        std::memcpy(
            row.data(), &filters.bytes[static_cast<std::size_t>(m) * sizeof row], sizeof row);
        if (!std::all_of(row.begin(), row.end(), [](float w) { return std::isfinite(w); }))
            return bad(base::formatted("filter %d has a weight that is no finite number", m));
        const auto isSet = [](float w) { return w != 0.0f; };
        const auto first = std::find_if(row.begin(), row.end(), isSet);
        const auto last = std::find_if(row.rbegin(), row.rend(), isSet).base();
        if (first < last)
            mel.m_weights.insert(mel.m_weights.end(), first, last);
        mel.m_filters.push_back(
            {static_cast<int>(first - row.begin()), static_cast<int>(std::max(last - first, {}))});
    }
    return mel;
}

MelFrontEnd::Scratch& MelFrontEnd::scratchIn(std::span<std::byte> bytes) {
    void* at = bytes.data();
    std::size_t space = bytes.size();
    if (std::align(alignof(Scratch), sizeof(Scratch), at, space) == nullptr)
        std::abort(); // a bug: the caller did not ask scratchBytes()
    return *new (at) Scratch;
}

base::Bytes MelFrontEnd::scratchBytes() {
    return base::Bytes(static_cast<std::int64_t>(sizeof(Scratch) + alignof(Scratch)));
}

std::int64_t MelFrontEnd::audioFrames(std::int64_t sampleCount) {
    return (sampleCount + kEdge + kHop - 1) / kHop;
}

std::int64_t MelFrontEnd::lengthFrames(std::int64_t sampleCount) {
    return 1 + (sampleCount - kEdge) / kHop;
}

int MelFrontEnd::windowCount(std::int64_t sampleCount) {
    const std::int64_t frames = lengthFrames(sampleCount);
    const std::int64_t windows = (frames - 10 + kWindowFrames - 1) / kWindowFrames;
    return static_cast<int>(std::max<std::int64_t>(windows, 1));
}

float MelFrontEnd::computeFour(
    const float* samples, int frames, float* out, std::size_t stride, Scratch& s) const {
    windowed(samples, m_window, s.pairs.data());
    m_fft.power(s.pairs.data(), s.work.data(), s.power.data());
    float maximum = kSilence;
    const float* weight = m_weights.data();
    for (std::size_t m = 0; m < m_filters.size(); ++m) {
        Lanes energy{};
        const Lanes* power = s.power.data() + m_filters[m].firstBin;
        for (int i = 0; i < m_filters[m].binCount; ++i)
            energy += *power++ * *weight++;
        for (int f = 0; f < frames; ++f) {
            const float x = log10Energy(energy[f]);
            maximum = std::max(maximum, x);
            if (out != nullptr)
                out[static_cast<std::size_t>(f) * stride + m] = x;
        }
    }
    return maximum;
}

base::Result<float> MelFrontEnd::computeRange(
    const WavReader& wav, std::int64_t first, std::int64_t last, float* out, std::size_t stride,
    std::span<std::byte> scratch) const {
    Scratch& s = scratchIn(scratch);
    const std::int64_t loud = std::min(last, audioFrames(wav.sampleCount()));
    float maximum = kSilence;
    for (std::int64_t chunk = first; chunk < loud; chunk += kChunkFrames) {
        if (const auto status = readChunk(wav, chunk, s.samples); !status)
            return status.error();
        const int frames = static_cast<int>(std::min<std::int64_t>(loud - chunk, kChunkFrames));
        for (int f = 0; f < frames; f += kLanes) {
            float* const rows = out == nullptr
                                    ? nullptr
                                    : out + static_cast<std::size_t>(chunk - first + f) * stride;
            maximum = std::max(
                maximum,
                computeFour(
                    s.samples.data() + f * kHop, std::min(frames - f, kLanes), rows, stride, s));
        }
    }
    if (out != nullptr)
        for (std::int64_t f = std::max(first, loud); f < last; ++f)
            std::fill_n(out + static_cast<std::size_t>(f - first) * stride, m_melCount, kSilence);
    return maximum;
}

base::Result<float> MelFrontEnd::computeFrames(
    const WavReader& wav, int window, int firstFrame, int lastFrame, float* out, std::size_t stride,
    std::span<std::byte> scratch) const {
    const std::int64_t start = std::int64_t{window} * kWindowFrames;
    return computeRange(wav, start + firstFrame, start + lastFrame, out, stride, scratch);
}

base::Result<float> MelFrontEnd::maximumOfFrames(
    const WavReader& wav, std::int64_t firstFrame, std::int64_t lastFrame,
    std::span<std::byte> scratch) const {
    return computeRange(wav, firstFrame, lastFrame, nullptr, 0, scratch);
}

base::Result<float> MelFrontEnd::prepare(const WavReader& wav, std::span<std::byte> scratch) const {
    const bool single = windowCount(wav.sampleCount()) == 1;
    return maximumOfFrames(
        wav, single ? kWindowFrames : 0, audioFrames(wav.sampleCount()), scratch);
}

void MelFrontEnd::normalize(float* rows, std::size_t stride, int frames, float maximum) const {
    const float least = maximum - kRange;
    for (int f = 0; f < frames; ++f) {
        float* const row = rows + static_cast<std::size_t>(f) * stride;
        for (int m = 0; m < m_melCount; ++m)
            row[m] = std::max(row[m], least) * 0.25f + 1.0f;
    }
}

base::Status MelFrontEnd::computeWindow(
    const WavReader& wav, int window, float prepared, float* out, std::size_t stride,
    std::span<std::byte> scratch) const {
    const auto own = computeFrames(wav, window, 0, kWindowFrames, out, stride, scratch);
    if (!own)
        return own.error();
    normalize(out, stride, kWindowFrames, std::max(prepared, *own));
    return {};
}

} // namespace shardscope::audio
