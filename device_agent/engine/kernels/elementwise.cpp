// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device_agent/engine/kernels/elementwise.cpp"
#include "hwy/foreach_target.h"

#include "device_agent/engine/kernels/layer_norm-inl.h"
#include "device_agent/engine/kernels/softmax-inl.h"
#include "device_agent/engine/kernels/unpack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

void layerNormImpl(
    ThreadPool& pool, const float* x, std::size_t ldx, std::size_t rows, std::size_t width,
    const std::byte* weight, const std::byte* bias, float* y, std::size_t ldy) {
    constexpr std::size_t kRowsPerTask = 32;
    pool.parallelFor((rows + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task, unsigned) {
        const std::size_t end = std::min(rows, (task + 1) * kRowsPerTask);
        for (std::size_t r = task * kRowsPerTask; r < end; ++r)
            normRange(x + r * ldx, 0, width, normOf(x + r * ldx, width), weight, bias, y + r * ldy);
    });
}

void unpackImpl(WeightType type, const std::byte* src, std::size_t count, float* dst) {
    withUnpack(
        type, [&](auto unpack) HWY_ATTR { unpackRange<decltype(unpack)>(src, 0, count, dst); });
}

void addToImpl(float* y, const std::byte* x, std::size_t count) {
    const Floats d;
    mapInPlace(d, y, count, [&](auto v, std::size_t i, std::size_t n) HWY_ATTR {
        const std::byte* at = x + i * sizeof(float);
        return hn::Add(v, n == hn::Lanes(d) ? loadBytes(d, at) : loadFirst(d, at, n));
    });
}

void geluInPlaceImpl(float* y, std::size_t count) {
    const Floats d;
    mapInPlace(
        d, y, count, [&](auto v, std::size_t, std::size_t) HWY_ATTR { return geluOf(d, v); });
}

/// Whether an element is greater than `value`; NaN never is.
bool anyAboveImpl(const float* x, std::size_t count, float value) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto limit = hn::Set(d, value);
    auto above = hn::Zero(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto v = hn::LoadU(d, x + i);
        above = hn::IfThenElse(hn::Gt(v, limit), hn::Set(d, 1.0f), above);
    }
    bool any = sumLanes(d, above) > 0.0f;
    for (; i < count; ++i)
        any = any || x[i] > value;
    return any;
}

float maxOfImpl(const float* x, std::size_t count) {
    return maxOver(x, count);
}

void softmaxInPlaceImpl(float* x, std::size_t count, float scale) {
    const Floats d;
    const float sum = expInPlace(x, count, scale);
    const auto factor = hn::Set(d, 1.0f / sum);
    mapInPlace(
        d, x, count, [&](auto v, std::size_t, std::size_t) HWY_ATTR { return hn::Mul(v, factor); });
}

float logSumExpImpl(const float* x, std::size_t count) {
    const Floats d;
    const float most = maxOver(x, count);
    const auto m = hn::Set(d, most);
    const float sum = sumOver(x, count, [&](auto v) HWY_ATTR { return expOf(d, hn::Sub(v, m)); });
    return most + std::log(sum);
}

float sumExpImpl(const float* x, std::size_t count, float most) {
    const Floats d;
    const auto m = hn::Set(d, most);
    return sumOver(x, count, [&](auto v) HWY_ATTR { return expOf(d, hn::Sub(v, m)); });
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine::kernels {

HWY_EXPORT(layerNormImpl);
HWY_EXPORT(unpackImpl);
HWY_EXPORT(addToImpl);
HWY_EXPORT(geluInPlaceImpl);
HWY_EXPORT(maxOfImpl);
HWY_EXPORT(anyAboveImpl);
HWY_EXPORT(softmaxInPlaceImpl);
HWY_EXPORT(logSumExpImpl);
HWY_EXPORT(sumExpImpl);

void layerNorm(
    ThreadPool& pool, const float* x, std::size_t ldx, std::size_t rows, std::size_t width,
    const std::byte* weight, const std::byte* bias, float* y, std::size_t ldy) {
    HWY_DYNAMIC_DISPATCH(layerNormImpl)(pool, x, ldx, rows, width, weight, bias, y, ldy);
}

void unpack(WeightType type, const std::byte* src, std::size_t count, float* dst) {
    HWY_DYNAMIC_DISPATCH(unpackImpl)(type, src, count, dst);
}

void addTo(float* y, const std::byte* x, std::size_t count) {
    HWY_DYNAMIC_DISPATCH(addToImpl)(y, x, count);
}

void geluInPlace(float* y, std::size_t count) {
    HWY_DYNAMIC_DISPATCH(geluInPlaceImpl)(y, count);
}

float maxOf(const float* x, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(maxOfImpl)(x, count);
}

void softmaxInPlace(float* x, std::size_t count, float scale) {
    HWY_DYNAMIC_DISPATCH(softmaxInPlaceImpl)(x, count, scale);
}

float logSumExp(const float* x, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(logSumExpImpl)(x, count);
}

float sumExp(const float* x, std::size_t count, float most) {
    return HWY_DYNAMIC_DISPATCH(sumExpImpl)(x, count, most);
}

Best argmax(
    const float* x, std::size_t count, std::size_t first, std::span<const std::uint64_t> skip,
    Best best) {
    const auto skipped = [&](std::size_t index) {
        return index / 64 < skip.size() && (skip[index / 64] >> (index % 64) & 1) != 0;
    };
    // Stretches in which nothing beats the best so far, nearly all of them, cost one vector
    // comparison.
    constexpr std::size_t kStretch = 256;
    for (std::size_t i = 0; i < count; i += kStretch) {
        const std::size_t end = std::min(count, i + kStretch);
        if (best.index != Best::kNoIndex &&
            !HWY_DYNAMIC_DISPATCH(anyAboveImpl)(x + i, end - i, best.value))
            continue;
        for (std::size_t j = i; j < end; ++j) {
            const bool better =
                best.index == Best::kNoIndex ? !std::isnan(x[j]) : x[j] > best.value;
            if (better && !skipped(first + j))
                best = {first + j, x[j]};
        }
    }
    return best;
}

} // namespace shardscope::engine::kernels
#endif
