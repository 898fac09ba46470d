// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include "sim_engine/model/dtype.h"

namespace shardscope::engine {

/// out = the blocks of `count` floats, a multiple of 32. Bit by bit what ggml's reference functions
/// write (ggml-quants.c, quantize_row_*_ref), so that files of both are the same. Values that are
/// no numbers come out as some number; nothing else is promised for them.
void quantizeRow(model::DType type, const float* x, std::size_t count, std::byte* out);

} // namespace shardscope::engine
