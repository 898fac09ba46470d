// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that knows how weights of each type become float32 vectors.
#include "device_agent/engine/kernels/simd-inl.h"

#include <algorithm>

#if defined(SHARDSCOPE_KERNELS_UNPACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_UNPACK_INL_H
#undef SHARDSCOPE_KERNELS_UNPACK_INL_H
#else
#define SHARDSCOPE_KERNELS_UNPACK_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// Types whose elements stand alone. load: elements [index, index + lanes) of the row at `row`;
/// index is a multiple of the lanes.
struct UnpackF32 {
    static constexpr std::size_t kBlock = 1;
    static constexpr std::size_t bytes(std::size_t count) { return count * 4; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load(D d, const std::byte* row, std::size_t index) {
        return loadBytes(d, row + index * 4);
    }
};

struct UnpackF16 {
    static constexpr std::size_t kBlock = 1;
    static constexpr std::size_t bytes(std::size_t count) { return count * 2; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load(D d, const std::byte* row, std::size_t index) {
        const hn::Rebind<hwy::float16_t, D> half;
        return hn::PromoteTo(d, loadBytes(half, row + index * 2));
    }
};

/// The float16 at `at` in all lanes.
template <class D>
HWY_INLINE hn::Vec<D> broadcastHalf(D d, const std::byte* at) {
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
#if HWY_TARGET == HWY_SCALAR
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, loadBytes(half, at));
#else
    const hn::Rebind<hwy::float16_t, D> half;
    const hn::Rebind<std::uint16_t, D> word;
    return hn::PromoteTo(d, hn::BitCast(half, hn::Set(word, bits)));
#endif
}

/// ggml's blocks of 32 elements: a scale, a least value in the types that have one, the fifth bits
/// of all elements, and nibbles (byte i: element i low, element i + 16 high) or bytes. An element
/// is scale * (number - kBias), or scale * number + least.
template <std::size_t kBits, bool kLeast>
struct UnpackBlocks {
    static constexpr std::size_t kBlock = 32;
    static constexpr std::size_t kFifths = kLeast ? 4 : 2; ///< where the fifth bits stand
    static constexpr std::size_t kNumbers = kFifths + (kBits == 5 ? 4 : 0);
    static constexpr std::size_t kBlockBytes = kNumbers + (kBits == 8 ? 32 : 16);
    static constexpr std::int32_t kBias = kLeast || kBits == 8 ? 0 : 1 << (kBits - 1);
    static constexpr std::size_t bytes(std::size_t count) { return count / kBlock * kBlockBytes; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load(D d, const std::byte* row, std::size_t index) {
        const Block<D> block(d, row + index / kBlock * kBlockBytes);
        return take(d, block, index % kBlock);
    }

    /// What the vectors of one block share.
    template <class D>
    struct Block {
        HWY_INLINE Block(D d, const std::byte* block)
            : at(block), scale(broadcastHalf(d, block)),
              least(kLeast ? broadcastHalf(d, block + 2) : hn::Zero(d)),
              fifths(fifthsOf(d, block)) {}
        const std::byte* at;
        hn::Vec<D> scale, least;
        hn::Vec<hn::RebindToSigned<D>> fifths; ///< of the whole block in every lane
    };

    /// Elements [first, first + lanes) of the block; first is a multiple of the lanes.
    template <class D>
    static HWY_INLINE hn::Vec<D> take(D d, const Block<D>& block, std::size_t first) {
#if HWY_TARGET <= HWY_AVX3
        if constexpr (kBits < 8)
            return lookUp(d, block, first);
#endif
        return scaled(d, hn::ConvertTo(d, numbers(d, block, first)), block);
    }

private:
    template <class D>
    static HWY_INLINE hn::Vec<D>
    scaled([[maybe_unused]] D d, hn::Vec<D> number, const Block<D>& block) {
        if constexpr (kLeast)
            return hn::MulAdd(number, block.scale, block.least);
        else
            return hn::Mul(number, block.scale); // exact: 8 bits times 11
    }

    template <class D>
    static HWY_INLINE auto fifthsOf(D, const std::byte* block) {
        const hn::RebindToSigned<D> di;
        std::int32_t bits = 0;
        if constexpr (kBits == 5)
            std::memcpy(&bits, block + kFifths, sizeof bits);
        return hn::Set(di, bits);
    }

    /// The bytes with the nibbles of elements [first, first + lanes).
    template <class D>
    static HWY_INLINE auto pairs(D, const std::byte* block, std::size_t first) {
        const hn::Rebind<std::uint8_t, D> small;
        const hn::RebindToSigned<D> di;
        return hn::PromoteTo(di, loadBytes(small, block + kNumbers + first % 16));
    }

    template <class D>
    static HWY_INLINE auto numbers(D d, const Block<D>& block, std::size_t first) {
        const hn::RebindToSigned<D> di;
        if constexpr (kBits == 8) {
            const hn::Rebind<std::int8_t, D> small;
            return hn::PromoteTo(di, loadBytes(small, block.at + kNumbers + first));
        } else {
            const auto both = pairs(d, block.at, first);
            const auto nibble =
                first < 16 ? hn::And(both, hn::Set(di, 15)) : hn::ShiftRight<4>(both);
            if constexpr (kBits == 4)
                return kBias == 0 ? nibble : hn::Sub(nibble, hn::Set(di, kBias));
            const auto isSet = hn::TestBit(block.fifths, hn::Load(di, kBitOfLane + first));
            const auto sixteen = hn::Set(di, 16);
            if constexpr (kBias == 0)
                return hn::Or(nibble, hn::IfThenElseZero(isSet, sixteen));
            else
                return hn::Sub(nibble, hn::IfThenZeroElse(isSet, sixteen));
        }
    }

#if HWY_TARGET <= HWY_AVX3
    /// As `numbers` and `scaled`, to the bit, for the price of a permutation: the block's 16 (or
    /// twice 16) possible values in registers. The instruction looks at the low 4 bits of an index.
    template <class D>
    static HWY_INLINE hn::Vec<D> lookUp(D d, const Block<D>& block, std::size_t first) {
        const auto both = pairs(d, block.at, first);
        const auto nibble = first < 16 ? both : hn::ShiftRight<4>(both);
        const auto lowest = hn::Iota(d, -static_cast<float>(kBias));
        const auto low = scaled(d, lowest, block).raw;
        if constexpr (kBits == 4)
            return hn::Vec<D>{_mm512_permutexvar_ps(nibble.raw, low)};
        const auto high = scaled(d, hn::Add(lowest, hn::Set(d, 16.0f)), block).raw;
        std::uint16_t fifths;
        std::memcpy(&fifths, block.at + kFifths + first / 8, sizeof fifths);
        const __m512 values = _mm512_permutexvar_ps(nibble.raw, low);
        return hn::Vec<D>{_mm512_mask_permutexvar_ps(values, fifths, nibble.raw, high)};
    }
#endif

    HWY_ALIGN static constexpr std::int32_t kBitOfLane[32] = {
        1 << 0,  1 << 1,  1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
        1 << 8,  1 << 9,  1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15,
        1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23,
        1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30, std::int32_t(1u << 31)};
};
using UnpackQ8_0 = UnpackBlocks<8, false>;
using UnpackQ4_0 = UnpackBlocks<4, false>;
using UnpackQ4_1 = UnpackBlocks<4, true>;
using UnpackQ5_0 = UnpackBlocks<5, false>;
using UnpackQ5_1 = UnpackBlocks<5, true>;

/// The elements [index, index + count), count < lanes, zeros behind them; reads nothing beyond. Not
/// for blocks, which are whole vectors.
template <class Unpack, class D>
HWY_INLINE hn::Vec<D> loadRest(D d, const std::byte* row, std::size_t index, std::size_t count) {
    static_assert(Unpack::kBlock == 1);
    HWY_ALIGN std::byte rest[64] = {};
    std::memcpy(rest, row + Unpack::bytes(index), Unpack::bytes(count));
    return Unpack::load(d, rest, 0);
}

/// Calls body(vector, v) for kVectors vectors of the row from element `index` on, a multiple of the
/// lanes; where they are whole blocks, what a block shares is unpacked once.
template <class Unpack, std::size_t kVectors, class D, class Body>
HWY_INLINE void loadRun(D d, const std::byte* row, std::size_t index, Body body) {
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    if constexpr (Unpack::kBlock > 1 && kVectors * kLanes % Unpack::kBlock == 0) {
        constexpr std::size_t kPerBlock = Unpack::kBlock / kLanes;
#pragma GCC unroll 8
        for (std::size_t first = 0; first < kVectors; first += kPerBlock) {
            const typename Unpack::template Block<D> block(
                d, row + Unpack::bytes(index + first * kLanes));
#pragma GCC unroll 8
            for (std::size_t v = 0; v < kPerBlock; ++v)
                body(Unpack::take(d, block, v * kLanes), first + v);
        }
    } else {
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v)
            body(Unpack::load(d, row, index + v * kLanes), v);
    }
}

/// Calls body with the unpacker of the type: withUnpack(type, [&](auto unpack) { ... }).
template <class Body>
HWY_INLINE void withUnpack(WeightType type, Body body) {
    switch (type) {
    case WeightType::F32:
        return body(UnpackF32());
    case WeightType::F16:
        return body(UnpackF16());
    case WeightType::Q8_0:
        return body(UnpackQ8_0());
    case WeightType::Q4_0:
        return body(UnpackQ4_0());
    case WeightType::Q4_1:
        return body(UnpackQ4_1());
    case WeightType::Q5_0:
        return body(UnpackQ5_0());
    case WeightType::Q5_1:
        return body(UnpackQ5_1());
    }
}

/// dst = elements [index, index + count) of the row as float32; whole blocks.
template <class Unpack>
HWY_INLINE void
unpackRange(const std::byte* row, std::size_t index, std::size_t count, float* dst) {
    const Floats d;
    constexpr std::size_t kLanes = hn::MaxLanes(Floats());
    constexpr std::size_t kVectors = std::max<std::size_t>(Unpack::kBlock / kLanes, 1);
    const std::byte* const from = row + Unpack::bytes(index);
    std::size_t i = 0;
    for (; i + kVectors * kLanes <= count; i += kVectors * kLanes)
        loadRun<Unpack, kVectors>(d, from, i, [&](auto vector, std::size_t v) HWY_ATTR {
            hn::StoreU(vector, d, dst + i + v * kLanes);
        });
    if constexpr (Unpack::kBlock == 1)
        if (i < count)
            storeFirst(d, loadRest<Unpack>(d, from, i, count - i), dst + i, count - i);
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
