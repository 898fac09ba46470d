// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels once more as plain loops in double precision, for the tests; they allocate and are
// slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_agent/engine/kernels/decode_attention.h"
#include "device_agent/engine/kernels/encoder_attention.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/matvec.h"
#include "device_agent/engine/kernels/shared_attention.h"

namespace shardscope::engine::kernels::reference {

float halfToFloat(std::uint16_t bits);
std::uint16_t floatToHalf(float x); ///< nearest even

double weightAt(const WeightView& w, std::size_t row, std::size_t col);
double gelu(double x);

/// The results overwrite the same outputs as the kernels'.
void gemm(const Gemm& product);
void matvec(const Matvec& product);
void layerNorm(
    const float* x, std::size_t width, const std::byte* weight, const std::byte* bias, float* y);
void softmax(const double* x, std::size_t count, double* y);
void encoderAttention(const EncoderAttention& attention);
void sharedAttention(const SharedAttention& attention, const float* q, float* out);

/// The element that stands in the cache, by the words of kv_format.h.
double keyAt(const KvCache& cache, std::size_t head, std::size_t position, std::size_t dim);
double valueAt(const KvCache& cache, std::size_t head, std::size_t position, std::size_t dim);
void decodeAttention(
    const KvCache& cache, std::size_t positions, const float* q, float scale, float* out);

} // namespace shardscope::engine::kernels::reference
