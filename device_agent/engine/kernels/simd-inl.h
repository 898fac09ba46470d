// SPDX-License-Identifier: GPL-3.0-or-later
// What every vectorised file needs, once for each target (see foreach_target.h of Highway).
#include "device_agent/engine/kernels/weight_view.h"

#include <cstring>

// Highway asks for Clang's name of the fused multiply-add of 32-bit Arm; GCC has only this one.
#if defined(__arm__) && defined(__ARM_FEATURE_FMA) && !defined(__ARM_VFPV4__)
#define __ARM_VFPV4__ 1
#endif
#include "hwy/highway.h"

#if defined(SHARDSCOPE_KERNELS_SIMD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_SIMD_INL_H
#undef SHARDSCOPE_KERNELS_SIMD_INL_H
#else
#define SHARDSCOPE_KERNELS_SIMD_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whole vectors, but never wider than the 16 floats that the packed layouts allow for.
using Floats = hn::CappedTag<float, 16>;

/// Calls body(d) with the widest vectors that divide `count`, a multiple of 4. The lanes never mix
/// in the kernels that use it, so the choice does not change a bit.
template <class Body>
HWY_INLINE void withVectorsDividing(std::size_t count, Body body) {
    if (count % hn::Lanes(Floats()) == 0)
        body(Floats());
    else if (count % hn::Lanes(hn::CappedTag<float, 8>()) == 0)
        body(hn::CappedTag<float, 8>());
    else
        body(hn::CappedTag<float, 4>());
}

/// A vector of T from any byte address: model files promise no alignment.
template <class D>
HWY_INLINE hn::Vec<D> loadBytes([[maybe_unused]] D d, const std::byte* at) {
#if HWY_TARGET == HWY_SCALAR
    hn::TFromD<D> value;
    std::memcpy(&value, at, sizeof value);
    return hn::Set(d, value);
#else
    const hn::Repartition<std::uint8_t, D> bytes;
    return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(at)));
#endif
}

template <class D>
HWY_INLINE void storeBytes([[maybe_unused]] D d, hn::Vec<D> v, std::byte* at) {
#if HWY_TARGET == HWY_SCALAR
    const hn::TFromD<D> value = hn::GetLane(v);
    std::memcpy(at, &value, sizeof value);
#else
    const hn::Repartition<std::uint8_t, D> bytes;
    hn::StoreU(hn::BitCast(bytes, v), bytes, reinterpret_cast<std::uint8_t*>(at));
#endif
}

/// The first `count` floats at `at`, zeros in the other lanes; reads nothing beyond.
template <class D>
HWY_INLINE hn::Vec<D> loadFirst(D d, const void* at, std::size_t count) {
    HWY_ALIGN float lanes[16] = {};
    std::memcpy(lanes, at, count * sizeof(float));
    return hn::Load(d, lanes);
}

template <class D>
HWY_INLINE void storeFirst(D d, hn::Vec<D> v, float* at, std::size_t count) {
    HWY_ALIGN float lanes[16];
    hn::Store(v, d, lanes);
    std::memcpy(at, lanes, count * sizeof(float));
}

/// Calls body(load, store, at, count) for whole vectors and once for the rest of `count` floats,
/// so that every element goes through the same vector operations.
template <class D, class Body>
HWY_INLINE void mapInPlace(D d, float* y, std::size_t count, Body body) {
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(body(hn::LoadU(d, y + i), i, lanes), d, y + i);
    if (i < count)
        storeFirst(d, body(loadFirst(d, y + i, count - i), i, count - i), y + i, count - i);
}

template <class D>
HWY_INLINE float sumLanes(D d, hn::Vec<D> v) {
    return hn::GetLane(hn::SumOfLanes(d, v));
}

/// e^x within 2 ulp for x in [-87, 88]; x below or above is moved to the border. The polynomial is
/// that of Cephes expf.
template <class D>
HWY_INLINE hn::Vec<D> expOf(D d, hn::Vec<D> x) {
    const hn::RebindToSigned<D> di;
    x = hn::Min(hn::Max(x, hn::Set(d, -87.0f)), hn::Set(d, 88.0f));
    // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    const auto shifter = hn::Set(d, 12582912.0f);
    const auto shifted = hn::Add(hn::Mul(x, hn::Set(d, 1.44269504088896341f)), shifter);
    const auto n = hn::Sub(shifted, shifter);
    auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
    r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
    auto p = hn::Set(d, 1.9875691500e-4f);
    p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
    p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
    p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
    p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
    p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
    p = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

/// 0.5 x (1 + tanh(u)) = x / (1 + e^(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3).
template <class D>
HWY_INLINE hn::Vec<D> geluOf(D d, hn::Vec<D> x) {
    constexpr float kTwice = 2.0f * 0.79788456080286535588f;
    const auto inner =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, -kTwice * 0.044715f), hn::Set(d, -kTwice));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), expOf(d, hn::Mul(x, inner))));
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
