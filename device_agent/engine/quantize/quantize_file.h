// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a Whisper model with quantised matrices, as whisper.cpp's quantize does: every tensor of
// two dimensions but biases and tables of positions; the convolutions keep their type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::engine {

struct Quantized {
    base::Bytes bytesBefore, bytesAfter; ///< of the files
    std::int32_t tensors = 0;            ///< that were quantised
    std::int32_t kept = 0;
};

/// Whether a tensor is one that is quantised, by its name and shape.
bool isQuantizable(const model::TensorInfo& tensor);

/// Reads `in` in pieces of rows and writes `out` under a temporary name that is then renamed; holds
/// about 2 MiB whatever the size of the model. `progress` is told how many bytes of `in` are
/// done and how many there are, and gives up the work by returning false. Usage where both are one
/// file or the type is none of blocks; BadInput for a file that is no unquantised Whisper model.
base::Result<Quantized> quantizeFile(
    const std::string& in, const std::string& out, model::DType type,
    const std::function<bool(base::Bytes, base::Bytes)>& progress);

} // namespace shardscope::engine
