// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim_engine/base/bytes.h"

namespace shardscope::engine::kernels::reference {

using base::loadAs;

float halfToFloat(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
    if (exponent == 31)
        return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                             : sign * std::numeric_limits<float>::infinity();
    if (exponent == 0)
        return sign * std::ldexp(static_cast<float>(mantissa), -24);
    return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

std::uint16_t floatToHalf(float x) {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double magnitude = std::fabs(static_cast<double>(x));
    if (std::isnan(x))
        return static_cast<std::uint16_t>(sign | 0x7E00);
    if (magnitude >= 65520.0)
        return static_cast<std::uint16_t>(sign | 0x7C00);
    // The step between neighbours of this size; nearbyint rounds halves to even.
    const int exponent = magnitude < std::ldexp(1.0, -14) ? -14 : std::ilogb(magnitude);
    const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
    const int bits = static_cast<int>(steps) + (exponent + 14) * 1024;
    return static_cast<std::uint16_t>(sign | bits);
}

namespace {

double halfAt(const std::byte* at) {
    return static_cast<double>(halfToFloat(loadAs<std::uint16_t>(at)));
}

/// Element `i` of a block of 32, by the words of ggml's block structures.
double blockElement(WeightType type, const std::byte* block, std::size_t i) {
    const bool hasLeast = type == WeightType::Q4_1 || type == WeightType::Q5_1;
    const bool hasFifths = type == WeightType::Q5_0 || type == WeightType::Q5_1;
    const std::byte* const fifths = block + (hasLeast ? 4 : 2);
    const std::byte* const numbers = fifths + (hasFifths ? 4 : 0);
    if (type == WeightType::Q8_0)
        return halfAt(block) * loadAs<std::int8_t>(numbers + i);
    int number = loadAs<std::uint8_t>(numbers + i % 16) >> (i < 16 ? 0 : 4) & 15;
    if (hasFifths)
        number |= static_cast<int>(loadAs<std::uint32_t>(fifths) >> i & 1) << 4;
    if (hasLeast)
        return halfAt(block) * number + halfAt(block + 2);
    return halfAt(block) * (number - (hasFifths ? 16 : 8));
}

} // namespace

double weightAt(const WeightView& w, std::size_t row, std::size_t col) {
    if (weightBlock(w.type) == 32)
        return blockElement(w.type, w.row(row) + weightBytes(w.type, col), col % 32);
    const std::byte* const at = w.row(row) + weightBytes(w.type, col);
    return w.type == WeightType::F32 ? static_cast<double>(loadAs<float>(at)) : halfAt(at);
}

double gelu(double x) {
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

namespace {

float finish(const Epilogue& e, double v, std::size_t m, std::size_t n) {
    if (e.bias != nullptr)
        v += static_cast<double>(loadAs<float>(e.bias + n * 4));
    if (e.gelu)
        v = gelu(v);
    if (e.addend != nullptr)
        v += static_cast<double>(loadAs<float>(e.addend + m * e.addendStride + n * 4));
    return static_cast<float>(v);
}

} // namespace

void gemm(const Gemm& g) {
    const std::size_t depth = g.weights.cols;
    for (std::size_t m = 0; m < g.rows; ++m)
        for (std::size_t n = 0; n < g.weights.rows; ++n) {
            double sum = 0.0;
            for (std::size_t k = 0; k < depth; ++k) {
                const std::size_t column =
                    g.order == WeightOrder::Plain ? k : k % (depth / 3) * 3 + k / (depth / 3);
                sum += static_cast<double>(g.a[m * g.lda + k]) * weightAt(g.weights, n, column);
            }
            g.c[m * g.ldc + n] = finish(g.epilogue, sum, m, n);
        }
}

void matvec(const Matvec& p) {
    for (std::size_t m = 0; m < p.rows; ++m)
        for (std::size_t n = 0; n < p.weights.rows; ++n) {
            double sum = 0.0;
            for (std::size_t k = 0; k < p.weights.cols; ++k)
                sum += static_cast<double>(p.x[m * p.ldx + k]) * weightAt(p.weights, n, k);
            p.y[m * p.ldy + n] = finish(p.epilogue, sum, m, n);
        }
}

void layerNorm(
    const float* x, std::size_t width, const std::byte* weight, const std::byte* bias, float* y) {
    double mean = 0.0;
    for (std::size_t i = 0; i < width; ++i)
        mean += static_cast<double>(x[i]) / static_cast<double>(width);
    double variance = 0.0;
    for (std::size_t i = 0; i < width; ++i)
        variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
        y[i] = static_cast<float>(
            (x[i] - mean) / std::sqrt(variance + 1e-5) *
                static_cast<double>(loadAs<float>(weight + i * 4)) +
            static_cast<double>(loadAs<float>(bias + i * 4)));
}

void softmax(const double* x, std::size_t count, double* y) {
    const double most = *std::max_element(x, x + count);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i)
        sum += y[i] = std::exp(x[i] - most);
    for (std::size_t i = 0; i < count; ++i)
        y[i] /= sum;
}

void encoderAttention(const EncoderAttention& at) {
    std::vector<double> weights(at.positions);
    std::vector<float> result(at.positions * at.heads * at.headDim);
    const std::size_t width = at.heads * at.headDim;
    for (std::size_t head = 0; head < at.heads; ++head)
        for (std::size_t i = 0; i < at.positions; ++i) {
            const std::size_t offset = head * at.headDim;
            for (std::size_t j = 0; j < at.positions; ++j) {
                double score = 0.0;
                for (std::size_t dim = offset; dim < offset + at.headDim; ++dim)
                    score += static_cast<double>(at.q[i * at.ldq + dim]) *
                             static_cast<double>(at.k[j * at.ldk + dim]);
                weights[j] = score * static_cast<double>(at.scale);
            }
            softmax(weights.data(), at.positions, weights.data());
            for (std::size_t dim = offset; dim < offset + at.headDim; ++dim) {
                double sum = 0.0;
                for (std::size_t j = 0; j < at.positions; ++j)
                    sum += weights[j] * static_cast<double>(at.v[j * at.ldv + dim]);
                result[i * width + dim] = static_cast<float>(sum);
            }
        }
    for (std::size_t i = 0; i < at.positions; ++i)
        std::copy_n(&result[i * width], width, at.out + i * at.ldo);
}

void sharedAttention(const SharedAttention& at, const float* q, float* out) {
    const std::size_t width = at.keyWeights.cols;
    const std::size_t headDim = width / at.heads;
    std::vector<double> absorbed(width), weights(at.positions), context(width);
    std::vector<float> result(width);
    for (std::size_t head = 0; head < at.heads; ++head) {
        for (std::size_t j = 0; j < width; ++j) {
            absorbed[j] = 0.0;
            for (std::size_t r = head * headDim; r < (head + 1) * headDim; ++r)
                absorbed[j] += static_cast<double>(q[r]) * weightAt(at.keyWeights, r, j);
        }
        for (std::size_t i = 0; i < at.positions; ++i) {
            double score = 0.0;
            for (std::size_t j = 0; j < width; ++j)
                score += absorbed[j] * static_cast<double>(at.encoded[i * width + j]);
            weights[i] = score * static_cast<double>(at.scale);
        }
        softmax(weights.data(), at.positions, weights.data());
        for (std::size_t j = 0; j < width; ++j) {
            context[j] = 0.0;
            for (std::size_t i = 0; i < at.positions; ++i)
                context[j] += weights[i] * static_cast<double>(at.encoded[i * width + j]);
        }
        for (std::size_t r = head * headDim; r < (head + 1) * headDim; ++r) {
            double sum = 0.0;
            for (std::size_t j = 0; j < width; ++j)
                sum += weightAt(at.valueWeights, r, j) * context[j];
            if (at.valueBias != nullptr)
                sum += static_cast<double>(loadAs<float>(at.valueBias + r * 4));
            result[r] = static_cast<float>(sum);
        }
    }
    std::copy(result.begin(), result.end(), out);
}

namespace {

/// Element `index` of the elements at `at`; Q4 by `nibble` (0 low, 1 high) of byte `index`.
double elementAt(kv::KvType type, const std::byte* at, std::size_t index, int nibble) {
    switch (type) {
    case kv::KvType::F32:
        return static_cast<double>(loadAs<float>(at + index * 4));
    case kv::KvType::F16:
        return static_cast<double>(halfToFloat(loadAs<std::uint16_t>(at + index * 2)));
    case kv::KvType::Q8:
        return loadAs<std::int8_t>(at + index);
    case kv::KvType::Q4:
        return static_cast<double>(loadAs<std::uint8_t>(at + index) >> (4 * nibble) & 15) - 8.0;
    }
    return 0.0;
}

double scaleAt(const kv::KvShape& shape, const std::byte* part, std::size_t head, std::size_t i) {
    if (!kv::kvHasScales(shape.type))
        return 1.0;
    const std::size_t index = head * shape.paddedCapacity() + i;
    return static_cast<double>(loadAs<float>(part + kv::kvScalesOffset(shape) + index * 4));
}

} // namespace

double keyAt(const KvCache& cache, std::size_t head, std::size_t position, std::size_t dim) {
    const kv::KvShape& shape = cache.shape;
    const std::size_t perBlock = kv::kPositionsPerBlock;
    const bool pairs = shape.type == kv::KvType::Q4;
    const std::size_t rows = pairs ? shape.headDim / 2 : shape.headDim; // of a block
    const std::size_t row = pairs ? dim / 2 : dim;
    const std::size_t index = (position / perBlock * rows + row) * perBlock + position % perBlock;
    return scaleAt(shape, cache.keys, head, position) *
           elementAt(
               shape.type, cache.keys + head * kv::kvHeadBytes(shape), index,
               static_cast<int>(dim % 2));
}

double valueAt(const KvCache& cache, std::size_t head, std::size_t position, std::size_t dim) {
    const kv::KvShape& shape = cache.shape;
    const bool pairs = shape.type == kv::KvType::Q4;
    const std::size_t row = pairs ? shape.headDim / 2 : shape.headDim;
    return scaleAt(shape, cache.values, head, position) *
           elementAt(
               shape.type, cache.values + head * kv::kvHeadBytes(shape), position * row + dim % row,
               dim >= row ? 1 : 0);
}

void decodeAttention(
    const KvCache& cache, std::size_t positions, const float* q, float scale, float* out) {
    const std::size_t dims = cache.shape.headDim;
    std::vector<double> weights(positions);
    for (std::size_t head = 0; head < cache.shape.heads; ++head) {
        for (std::size_t i = 0; i < positions; ++i) {
            double score = 0.0;
            for (std::size_t dim = 0; dim < dims; ++dim)
                score += static_cast<double>(q[head * dims + dim]) * keyAt(cache, head, i, dim);
            weights[i] = score * static_cast<double>(scale);
        }
        softmax(weights.data(), positions, weights.data());
        for (std::size_t dim = 0; dim < dims; ++dim) {
            double sum = 0.0;
            for (std::size_t i = 0; i < positions; ++i)
                sum += weights[i] * valueAt(cache, head, i, dim);
            out[head * dims + dim] = static_cast<float>(sum);
        }
    }
}

} // namespace shardscope::engine::kernels::reference
