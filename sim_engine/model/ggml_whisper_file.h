// SPDX-License-Identifier: GPL-3.0-or-later
// The ggml container of Whisper models as whisper.cpp's converters write it, little-endian:
//   u32 magic "ggml" (0x67676d6c), 11 x i32 hparams, i32 mels, i32 bins, mels x bins f32 (the mel
//   filters), i32 n, n x (u32 length, bytes) (the vocabulary), then to the end of the file tensors:
//   i32 dims, i32 name length, i32 type, dims x i32 extents (innermost first), name, data.
#pragma once

#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/model/model_card.h"

namespace shardscope::model {

/// Reads the header and the tensor headers, never the weights. BadInput with the offset where a
/// number is impossible, a tensor is missing, unknown or of a wrong shape, or the file ends early.
base::Result<ModelCard> readGgmlWhisper(const std::string& path);

} // namespace shardscope::model
