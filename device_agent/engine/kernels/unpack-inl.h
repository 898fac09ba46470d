// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that knows how weights of each type become float32 vectors.
#include "device_agent/engine/kernels/simd-inl.h"

#if defined(SHARDSCOPE_KERNELS_UNPACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_UNPACK_INL_H
#undef SHARDSCOPE_KERNELS_UNPACK_INL_H
#else
#define SHARDSCOPE_KERNELS_UNPACK_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// load: elements [index, index + lanes) of the row at `row`; index is a multiple of the lanes.
struct UnpackF32 {
    static constexpr std::size_t bytes(std::size_t count) { return count * 4; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load(D d, const std::byte* row, std::size_t index) {
        return loadBytes(d, row + index * 4);
    }
};

struct UnpackF16 {
    static constexpr std::size_t bytes(std::size_t count) { return count * 2; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load(D d, const std::byte* row, std::size_t index) {
        const hn::Rebind<hwy::float16_t, D> half;
        return hn::PromoteTo(d, loadBytes(half, row + index * 2));
    }
};

/// The elements [index, index + count), count < lanes, zeros behind them; reads nothing beyond.
template <class Unpack, class D>
HWY_INLINE hn::Vec<D> loadRest(D d, const std::byte* row, std::size_t index, std::size_t count) {
    HWY_ALIGN std::byte rest[64] = {};
    std::memcpy(rest, row + Unpack::bytes(index), Unpack::bytes(count));
    return Unpack::load(d, rest, 0);
}

/// Calls body with the unpacker of the type: withUnpack(type, [&](auto unpack) { ... }).
template <class Body>
HWY_INLINE void withUnpack(WeightType type, Body body) {
    switch (type) {
    case WeightType::F32:
        return body(UnpackF32());
    case WeightType::F16:
        return body(UnpackF16());
    }
}

/// dst = elements [index, index + count) of the row as float32.
template <class Unpack>
HWY_INLINE void
unpackRange(const std::byte* row, std::size_t index, std::size_t count, float* dst) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const std::byte* from = row + Unpack::bytes(index);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(Unpack::load(d, from, i), d, dst + i);
    if (i < count)
        storeFirst(d, loadRest<Unpack>(d, from, i, count - i), dst + i, count - i);
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
