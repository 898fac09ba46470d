// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/mel_rate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "device_agent/engine/audio/mel.h"
#include "device_agent/probes/stopwatch.h"
#include "device_agent/probes/temporary_file.h"
#include "sim_engine/base/bytes.h"

namespace shardscope::probes {
namespace {

constexpr int kMels = 80, kFrames = 200;

/// Triangles that overlap by half and widen upwards, about as a mel filter bank is.
std::vector<std::byte> filters() {
    std::vector<float> bank(static_cast<std::size_t>(kMels * audio::kBins));
    const auto centre = [](int i) { return 4.0 * std::pow(audio::kBins / 4.0, i / double{kMels}); };
    for (int mel = 0; mel < kMels; ++mel) {
        const double at = centre(mel);
        const double reach = std::max(2.0, centre(mel + 1) - at);
        for (int bin = 0; bin < audio::kBins; ++bin)
            bank[static_cast<std::size_t>(mel * audio::kBins + bin)] =
                static_cast<float>(std::max(0.0, 1.0 - std::abs(bin - at) / reach) / reach);
    }
    std::vector<std::byte> bytes(bank.size() * sizeof(float));
    std::memcpy(bytes.data(), bank.data(), bytes.size());
    return bytes;
}

/// Noise of `samples` samples, 16 kHz mono, 16 bit, as a WAV file.
std::vector<std::byte> noise(std::uint32_t samples) {
    std::vector<std::byte> wav(44 + samples * 2);
    const auto word = [&](std::size_t at, const char* text) { std::memcpy(&wav[at], text, 4); };
    word(0, "RIFF");
    base::storeAs<std::uint32_t>(&wav[4], 36 + samples * 2);
    word(8, "WAVE");
    word(12, "fmt ");
    base::storeAs<std::uint32_t>(&wav[16], 16);
    base::storeAs<std::uint16_t>(&wav[20], 1);
    base::storeAs<std::uint16_t>(&wav[22], 1);
    base::storeAs<std::uint32_t>(&wav[24], audio::kSampleRate);
    base::storeAs<std::uint32_t>(&wav[28], audio::kSampleRate * 2);
    base::storeAs<std::uint16_t>(&wav[32], 2);
    base::storeAs<std::uint16_t>(&wav[34], 16);
    word(36, "data");
    base::storeAs<std::uint32_t>(&wav[40], samples * 2);
    std::uint32_t state = 1;
    for (std::uint32_t i = 0; i < samples; ++i) {
        state = state * 1664525u + 1013904223u;
        base::storeAs(&wav[44 + i * 2], static_cast<std::uint16_t>(state >> 16));
    }
    return wav;
}

} // namespace

base::Result<double> melRate(const std::string& folder) {
    auto file = TemporaryFile::create(folder);
    if (!file)
        return file.error();
    if (auto status = file->append(noise((kFrames + 4) * audio::kHop)); !status)
        return status.error();
    const auto wav = audio::WavReader::open(file->path());
    if (!wav)
        return wav.error();
    const std::vector<std::byte> bank = filters();
    const auto front = audio::MelFrontEnd::create({bank, kMels});
    if (!front)
        return front.error();
    std::vector<float> out(static_cast<std::size_t>(kFrames * kMels));
    std::vector<std::byte> scratch(audio::MelFrontEnd::scratchBytes().size());
    base::Status status;
    const auto frames = [&] {
        const auto found =
            front->computeFrames(*wav, 0, 0, kFrames, out.data(), std::size_t{kMels}, scratch);
        if (!found)
            status = found.error();
        front->normalize(out.data(), std::size_t{kMels}, kFrames, 0.0f);
    };
    const double seconds = callTimes<ThreadClock>(frames).median;
    if (!status)
        return status.error();
    // Of model/whisper_graph.cpp: a real transform of 400 points, the power and the filters.
    const double flopsOfFrame = 2.5 * 400 * 8.6 + 2.0 * 201 * 2 + 400;
    return kFrames * flopsOfFrame / seconds;
}

} // namespace shardscope::probes
