// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim_engine/base/units.h"

namespace shardscope::model {

/// How keys and values are kept. Shared is for cross-attention alone: the encoder's output is kept
/// once for all layers and the projections are absorbed into query and value.
enum class KvType : std::uint8_t { F32, F16, Q8, Q4, Shared };

/// "f16", "q8", "shared", ...
std::string_view kvTypeName(KvType type);

std::optional<KvType> kvTypeByName(std::string_view name);

/// Bytes of one position of K (or of V): `width` elements, and for q8 and q4 one f32 scale a head.
base::Bytes kvRowBytes(KvType type, std::int64_t width, std::int64_t heads);

} // namespace shardscope::model
