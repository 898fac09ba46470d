// SPDX-License-Identifier: GPL-3.0-or-later
// Row-wise and element-wise pieces. All results are independent of threads and alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/kernels/weight_view.h"

namespace shardscope::engine::kernels {

inline constexpr float kLayerNormEpsilon = 1e-5f;

/// y[r] = (x[r] - mean) / sqrt(variance + eps) * weight + bias for each row of `width` floats; two
/// passes. Weight and bias are float32 at any address. y may be x (with the same row distance).
void layerNorm(
    ThreadPool& pool, const float* x, std::size_t ldx, std::size_t rows, std::size_t width,
    const std::byte* weight, const std::byte* bias, float* y, std::size_t ldy);

/// dst = the elements as float32; src at any address.
void unpack(WeightType type, const std::byte* src, std::size_t count, float* dst);

/// y += x; x is float32 at any address.
void addTo(float* y, const std::byte* x, std::size_t count);
inline void addTo(float* y, const float* x, std::size_t count) {
    addTo(y, reinterpret_cast<const std::byte*>(x), count);
}

/// y = 0.5 y (1 + tanh(sqrt(2/pi) (y + 0.044715 y^3))).
void geluInPlace(float* y, std::size_t count);

/// Largest of `count` >= 1 floats.
float maxOf(const float* x, std::size_t count);

/// x = softmax(scale * x) over all `count` elements (scale > 0).
void softmaxInPlace(float* x, std::size_t count, float scale = 1.0f);

/// log(sum(exp(x))) over all `count` elements.
float logSumExp(const float* x, std::size_t count);

/// sum(exp(x - most)) over all `count` elements, none of them above `most`; what is far below it
/// (by more than 87, or -infinity) adds 1e-38.
float sumExp(const float* x, std::size_t count, float most);

/// The best of the elements seen so far; no index when there was none to choose from.
struct Best {
    static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);
    std::size_t index = kNoIndex;
    float value = -std::numeric_limits<float>::infinity();
};

/// Continues `best` over x[0..count), whose indices begin at `first`: the greatest value wins, the
/// lowest index among equals, NaN never. An index whose bit is set in `skip` (word index/64, bit
/// index%64, counted from index 0) is passed over; an empty `skip` skips nothing.
Best argmax(
    const float* x, std::size_t count, std::size_t first, std::span<const std::uint64_t> skip,
    Best best = {});

} // namespace shardscope::engine::kernels
