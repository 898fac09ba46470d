// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/kv_type.h"

#include <array>

namespace shardscope::model {
namespace {

constexpr std::array<std::string_view, 5> kNames{"f32", "f16", "q8", "q4", "shared"};

} // namespace

std::string_view kvTypeName(KvType type) {
    return kNames[static_cast<std::size_t>(type)];
}

std::optional<KvType> kvTypeByName(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name)
            return static_cast<KvType>(i);
    return std::nullopt;
}

base::Bytes kvRowBytes(KvType type, std::int64_t width, std::int64_t heads) {
    switch (type) {
    case KvType::F32:
        return base::Bytes(4 * width);
    case KvType::F16:
        return base::Bytes(2 * width);
    case KvType::Q8:
        return base::Bytes(width + 4 * heads);
    case KvType::Q4:
        return base::Bytes(width / 2 + 4 * heads);
    case KvType::Shared:
        break;
    }
    return base::Bytes(0);
}

} // namespace shardscope::model
