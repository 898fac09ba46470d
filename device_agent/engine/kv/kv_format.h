// SPDX-License-Identifier: GPL-3.0-or-later
// How keys and values of past positions lie in memory.
//
// One layer has a key part and a value part. Both are head-major, so that the threads, which split
// a layer by heads, each read one contiguous run:
//
//   keys    [head][block of 16 positions][dim][16 positions]   then scales [head][position] float32
//   values  [head][position][dim]                              then scales [head][position] float32
//
// A key block holds 16 positions side by side, so that 16 scores fill the lanes of a vector and no
// sum across lanes is needed. Positions are padded to a multiple of 16 in both parts; what stands
// in the padding is never used. Scales exist for Q8 and Q4 only.
//
//   F32, F16   IEEE little-endian (F16 rounds to nearest even)
//   Q8         int8, value = scale * q, scale = max|x| / 127 per head and position, q within +-127
//   Q4         four bits q + 8, scale = max|x| / 7, q within +-7; an all-zero row has scale 1.
//              keys: dims 2i (low nibble) and 2i+1 (high) of one position share a byte,
//              values: dims i (low nibble) and i + dim/2 (high) share byte i of their position
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardscope::engine::kv {

enum class KvType : std::uint8_t { F32, F16, Q8, Q4 };

/// Positions that stand side by side in a key block.
inline constexpr std::size_t kPositionsPerBlock = 16;

/// The extent of one layer's cache; headDim is a multiple of 8.
struct KvShape {
    KvType type = KvType::F16;
    std::size_t heads = 0;
    std::size_t headDim = 0;
    std::size_t capacity = 0; ///< positions that can be stored

    /// Positions with the padding, for which there is room.
    std::size_t paddedCapacity() const {
        return (capacity + kPositionsPerBlock - 1) / kPositionsPerBlock * kPositionsPerBlock;
    }
};

/// Bits of one stored element without its share of the scale.
std::size_t kvElementBits(KvType type);

/// True for the types with a scale for each head and position.
bool kvHasScales(KvType type);

/// Bytes that one more position costs in one part: elements and scales of all heads.
std::size_t kvRowBytes(const KvShape& shape);

/// Bytes of the elements of one head, and so the distance from head to head.
std::size_t kvHeadBytes(const KvShape& shape);

/// Where the scales begin, counted from the start of the part.
std::size_t kvScalesOffset(const KvShape& shape);

/// Bytes of one part (keys or values) of one layer: kvRowBytes * paddedCapacity.
std::size_t kvPartBytes(const KvShape& shape);

} // namespace shardscope::engine::kv
