// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim_engine/base/units.h"

namespace shardscope::model {

/// How the elements of a tensor are stored; the ggml type names.
enum class DType : std::uint8_t { F32, F16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 };

/// "f16", "q5_0", ...
std::string_view dtypeName(DType type);

/// The type with this name, if there is one.
std::optional<DType> dtypeByName(std::string_view name);

/// The type that a ggml file means by this number, if it is one of ours.
std::optional<DType> dtypeByGgmlNumber(std::int32_t number);

/// The number by which a ggml file means this type.
std::int32_t ggmlNumber(DType type);

/// Elements a storage block holds: 1, or 32 for the quantised types.
std::int64_t blockElements(DType type);

/// Bytes of one storage block.
std::int64_t blockBytes(DType type);

/// Bytes of a row of `elements`, which is a multiple of the block.
base::Bytes rowBytes(DType type, std::int64_t elements);

} // namespace shardscope::model
