// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/simd-inl.h"

#include <algorithm>
#include <limits>

#if defined(SHARDSCOPE_KERNELS_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_SOFTMAX_INL_H
#undef SHARDSCOPE_KERNELS_SOFTMAX_INL_H
#else
#define SHARDSCOPE_KERNELS_SOFTMAX_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// Largest of `count` floats, none of them NaN.
HWY_INLINE float maxOver(const float* x, std::size_t count) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
    auto m0 = lowest, m1 = lowest;
    std::size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
        m0 = hn::Max(m0, hn::LoadU(d, x + i));
        m1 = hn::Max(m1, hn::LoadU(d, x + i + lanes));
    }
    float most = hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
    for (; i < count; ++i)
        most = std::max(most, x[i]);
    return most;
}

/// x = exp(scale * (x - max)) over `count` >= 1 elements (scale > 0); returns their sum, which adds
/// two vectors side by side in ascending order and then their lanes.
HWY_INLINE float expInPlace(float* x, std::size_t count, float scale) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto m = hn::Set(d, maxOver(x, count));
    const auto s = hn::Set(d, scale);
    auto s0 = hn::Zero(d), s1 = hn::Zero(d);
    const auto weigh = [&](auto v) HWY_ATTR { return expOf(d, hn::Mul(hn::Sub(v, m), s)); };
    std::size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
        const auto e0 = weigh(hn::LoadU(d, x + i));
        const auto e1 = weigh(hn::LoadU(d, x + i + lanes));
        hn::StoreU(e0, d, x + i);
        hn::StoreU(e1, d, x + i + lanes);
        s0 = hn::Add(s0, e0);
        s1 = hn::Add(s1, e1);
    }
    for (; i < count; i += lanes) {
        const std::size_t rest = std::min(lanes, count - i);
        const auto e = hn::IfThenElseZero(hn::FirstN(d, rest), weigh(loadFirst(d, x + i, rest)));
        storeFirst(d, e, x + i, rest);
        s0 = hn::Add(s0, e);
    }
    return sumLanes(d, hn::Add(s0, s1));
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
