// SPDX-License-Identifier: GPL-3.0-or-later
// Layer norm of a row, whole or in ranges: the same bits either way.
#if defined(SHARDSCOPE_KERNELS_LAYER_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_LAYER_NORM_INL_H
#undef SHARDSCOPE_KERNELS_LAYER_NORM_INL_H
#else
#define SHARDSCOPE_KERNELS_LAYER_NORM_INL_H
#endif

#include <cmath>

#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// Sum over i of body(x[i]), four vectors side by side, then a fixed sum of them.
template <class Body>
HWY_INLINE float sumOver(const float* x, std::size_t count, Body body) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        s0 = hn::Add(s0, body(hn::LoadU(d, x + i)));
        s1 = hn::Add(s1, body(hn::LoadU(d, x + i + lanes)));
        s2 = hn::Add(s2, body(hn::LoadU(d, x + i + 2 * lanes)));
        s3 = hn::Add(s3, body(hn::LoadU(d, x + i + 3 * lanes)));
    }
    for (; i + lanes <= count; i += lanes)
        s0 = hn::Add(s0, body(hn::LoadU(d, x + i)));
    if (i < count) {
        const auto rest = body(loadFirst(d, x + i, count - i));
        s1 = hn::Add(s1, hn::IfThenElseZero(hn::FirstN(d, count - i), rest));
    }
    return sumLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

/// What the elements of one row are moved and scaled by.
struct RowNorm {
    float mean = 0;
    float scale = 1;
};

inline RowNorm normOf(const float* x, std::size_t width) {
    const Floats d;
    const auto n = static_cast<float>(width);
    const float mean = sumOver(x, width, [](auto v) HWY_ATTR { return v; }) / n;
    const auto m = hn::Set(d, mean);
    const float variance = sumOver(
                               x, width,
                               [&](auto v) HWY_ATTR {
                                   const auto distance = hn::Sub(v, m);
                                   return hn::Mul(distance, distance);
                               }) /
                           n;
    return {mean, 1.0f / std::sqrt(variance + kLayerNormEpsilon)};
}

/// y[0 .. count) = the normed elements [first, first + count) of the row x; weight and bias are
/// those of the whole row.
inline void normRange(
    const float* x, std::size_t first, std::size_t count, RowNorm norm, const std::byte* weight,
    const std::byte* bias, float* y) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto m = hn::Set(d, norm.mean), scale = hn::Set(d, norm.scale);
    const auto normed = [&](auto v, auto w, auto b)
                            HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(v, m), scale), w, b); };
    x += first;
    weight += first * sizeof(float);
    bias += first * sizeof(float);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(
            normed(hn::LoadU(d, x + i), loadBytes(d, weight + i * 4), loadBytes(d, bias + i * 4)),
            d, y + i);
    if (i < count) {
        const std::size_t rest = count - i;
        const auto v = normed(
            loadFirst(d, x + i, rest), loadFirst(d, weight + i * 4, rest),
            loadFirst(d, bias + i * 4, rest));
        storeFirst(d, v, y + i, rest);
    }
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
