// SPDX-License-Identifier: GPL-3.0-or-later
// A small ggml Whisper file made in memory, with marks where its parts begin, for tests that cut
// and change it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim_engine/base/bytes.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::test {

struct GgmlFile {
    std::string bytes;
    std::size_t hparams = 4; ///< 11 x i32
    std::size_t filters = 0;
    std::size_t vocabulary = 0;
    std::vector<std::size_t> tensors; ///< their headers

    template <typename T>
    void append(T value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void set(std::size_t at, std::int32_t value) { base::storeAs(bytes.data() + at, value); }
};

/// Small in all but its vocabulary, whose size a Whisper file cannot choose; about 1.7 MB.
inline model::WhisperShape smallShape() {
    return {50000, 16, 16, 2, 2, 8, 16, 2, 2, 80, 1};
}

inline GgmlFile ggmlFile(const model::WhisperShape& shape = smallShape(), int words = 50) {
    GgmlFile file;
    file.append(std::uint32_t{0x67676d6c});
    for (const std::int64_t value :
         {shape.vocab, shape.audioPositions, shape.audioState, shape.audioHeads, shape.audioLayers,
          shape.textPositions, shape.textState, shape.textHeads, shape.textLayers, shape.mels,
          shape.ftype})
        file.append(static_cast<std::int32_t>(value));
    file.filters = file.bytes.size();
    file.append(static_cast<std::int32_t>(shape.mels));
    file.append(std::int32_t{201});
    file.bytes.append(static_cast<std::size_t>(shape.mels) * 201 * 4, '\0');
    file.vocabulary = file.bytes.size();
    file.append(std::int32_t{words});
    for (int i = 0; i < words; ++i) {
        const std::string word = "w" + std::to_string(i);
        file.append(static_cast<std::uint32_t>(word.size()));
        file.bytes += word;
    }
    const auto matrix = shape.ftype == 0 ? model::DType::F32 : model::DType::F16;
    for (const model::TensorInfo& t : model::whisperTensors(shape, matrix)) {
        file.tensors.push_back(file.bytes.size());
        file.append(static_cast<std::int32_t>(t.shape.size()));
        file.append(static_cast<std::int32_t>(t.name.size()));
        file.append(std::int32_t{t.dtype == model::DType::F32 ? 0 : 1});
        for (auto extent = t.shape.rbegin(); extent != t.shape.rend(); ++extent)
            file.append(static_cast<std::int32_t>(*extent));
        file.bytes += t.name;
        file.bytes.append((t.bytesPerRow() * t.rows()).size(), '\x5A');
    }
    return file;
}

} // namespace shardscope::test
