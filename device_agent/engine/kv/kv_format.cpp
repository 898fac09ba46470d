// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kv/kv_format.h"

namespace shardscope::engine::kv {

std::size_t kvElementBits(KvType type) {
    switch (type) {
    case KvType::F32:
        return 32;
    case KvType::F16:
        return 16;
    case KvType::Q8:
        return 8;
    case KvType::Q4:
        return 4;
    }
    return 0;
}

bool kvHasScales(KvType type) {
    return type == KvType::Q8 || type == KvType::Q4;
}

std::size_t kvRowBytes(const KvShape& shape) {
    const std::size_t elements = shape.heads * shape.headDim * kvElementBits(shape.type) / 8;
    return elements + (kvHasScales(shape.type) ? shape.heads * sizeof(float) : 0);
}

std::size_t kvHeadBytes(const KvShape& shape) {
    return shape.paddedCapacity() * shape.headDim * kvElementBits(shape.type) / 8;
}

std::size_t kvScalesOffset(const KvShape& shape) {
    return shape.heads * kvHeadBytes(shape);
}

std::size_t kvPartBytes(const KvShape& shape) {
    return kvRowBytes(shape) * shape.paddedCapacity();
}

} // namespace shardscope::engine::kv
