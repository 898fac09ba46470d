// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::tests {

/// A Whisper model of seeded random weights: small, but with the vocabulary of the real ones.
struct RandomModel {
    std::int32_t vocab = 51865; ///< 51864 English, 51865 or 51866 multilingual
    std::int32_t width = 64;
    std::int32_t heads = 1;
    std::int32_t layers = 1;
    std::uint32_t seed = 1;
    /// The rows of timestamps and of end of text are this much longer than those of text, so that
    /// greedy decoding comes by them.
    float timestampScale = 1;
    /// Keeps one token from being repeated for ever.
    float positionScale = 4;
};

/// Writes it as a ggml file of f16 matrices. The mel filters are those of the sample model; words
/// are " w0", " w1", ... but for the single space.
base::Status writeRandomModel(const RandomModel& model, const std::string& path);

} // namespace shardscope::tests
