// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"

namespace shardscope::probes {

/// What processor and memory do with the engine's own kernels, on the shapes of a Whisper layer of
/// width 384.
struct ComputeRates {
    /// As plan::BoardProfile::opsPerSecond: of one thread; matrices f32 (0) and f16 (1). Attention:
    /// of the encoder (0), and of one decoded token over an f16 cache (1).
    std::array<std::array<double, 2>, model::kOpKindCount> opsPerSecond{};
    double memoryBytesPerSecond = 0; ///< weights streamed through one thread
    double memoryScale = 1;          ///< through all threads, against one
    double threadEfficiency = 1;     ///< what each further thread adds to a matrix product
    double opFixedNs = 0;            ///< handing an op to all threads and taking it back
};

/// Takes about a second; more on slow boards. `memory` bounds the working set, which should be more
/// than the caches hold. A short WAV file is written into `folder` and removed. Failed where that
/// cannot be.
base::Result<ComputeRates>
measureCompute(unsigned threads, base::Bytes memory, const std::string& folder);

} // namespace shardscope::probes
