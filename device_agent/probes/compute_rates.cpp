// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/compute_rates.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <vector>

#include "device_agent/engine/kernels/decode_attention.h"
#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/kernels/encoder_attention.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/matvec.h"
#include "device_agent/probes/mel_rate.h"
#include "device_agent/probes/stopwatch.h"

namespace shardscope::probes {
namespace {

using namespace engine::kernels;
using model::OpKind;

constexpr std::size_t kWidth = 384, kHidden = 4 * kWidth, kHeads = 6, kHeadDim = 64;
constexpr std::size_t kPositions = 1500;
/// Elements of the matrices of a layer: query, key, value, out, and two of the MLP.
constexpr std::size_t kLayerElements = 4 * kWidth * kWidth + 2 * kWidth * kHidden;

std::vector<float> values(std::size_t count) {
    std::vector<float> v(count);
    std::uint32_t state = 1;
    for (float& x : v) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
    return v;
}

/// Halves of about 0.001, and so never subnormal, which some processors slow down for.
std::vector<std::byte> halves(std::size_t count) {
    std::vector<std::byte> bytes(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<std::uint16_t>(0x1400u | (i * 2654435761u >> 20 & 1023u));
        std::memcpy(&bytes[i * 2], &bits, sizeof bits);
    }
    return bytes;
}

/// The matrices of `layers` layers, one after the other.
struct Weights {
    WeightType type = WeightType::F32;
    std::size_t layers = 1;
    std::vector<std::byte> bytes;

    Weights(WeightType t, std::size_t n) : type(t), layers(n) {
        const std::size_t count = kLayerElements * n;
        if (type == WeightType::F16) {
            bytes = halves(count);
            return;
        }
        const std::vector<float> v = values(count);
        bytes.resize(count * sizeof(float));
        std::memcpy(bytes.data(), v.data(), bytes.size());
    }
    std::size_t layerBytes() const { return weightBytes(type, kLayerElements); }
};

/// Takes the matrices of one layer in the order of their ops.
class LayerReader {
public:
    LayerReader(const Weights& weights, std::size_t layer)
        : m_type(weights.type), m_at(weights.bytes.data() + layer * weights.layerBytes()) {}
    WeightView next(std::size_t rows, std::size_t cols) {
        const WeightView view{m_at, m_type, rows, cols};
        m_at += weightBytes(m_type, rows * cols);
        return view;
    }

private:
    WeightType m_type;
    const std::byte* m_at;
};

/// The matrix products and norms of an encoder layer, without its attention.
class EncoderLayer {
public:
    EncoderLayer(std::size_t rows, unsigned threads)
        : m_rows(rows), m_x(values(rows * kWidth)), m_norm(rows * kWidth), m_hidden(rows * kHidden),
          m_vectors(values(kHidden)), m_scratch(std::max(
                                          gemmScratchBytes(kHidden, kWidth, threads),
                                          gemmScratchBytes(kWidth, kHidden, threads))) {}

    double flops() const { return 2.0 * static_cast<double>(m_rows * kLayerElements); }

    void run(ThreadPool& pool, const Weights& weights) {
        LayerReader reader(weights, 0);
        norm(pool);
        for (int i = 0; i < 3; ++i)
            product(pool, reader.next(kWidth, kWidth), m_norm, m_hidden, false, false);
        product(pool, reader.next(kWidth, kWidth), m_norm, m_x, false, true);
        norm(pool);
        product(pool, reader.next(kHidden, kWidth), m_norm, m_hidden, true, false);
        product(pool, reader.next(kWidth, kHidden), m_hidden, m_x, false, true);
    }

private:
    const std::byte* vectors() const {
        return reinterpret_cast<const std::byte*>(m_vectors.data());
    }
    void norm(ThreadPool& pool) {
        layerNorm(
            pool, m_x.data(), kWidth, m_rows, kWidth, vectors(), vectors(), m_norm.data(), kWidth);
    }
    void product(
        ThreadPool& pool, const WeightView& w, const std::vector<float>& in,
        std::vector<float>& out, bool gelu, bool residual) {
        Gemm g;
        g.a = in.data();
        g.rows = m_rows;
        g.lda = w.cols;
        g.weights = w;
        g.c = out.data();
        g.ldc = w.rows;
        g.epilogue = residual ? residualEpilogue(vectors(), g.c, g.ldc)
                              : Epilogue{vectors(), gelu, nullptr, 0};
        gemm(pool, g, m_scratch);
    }
    std::size_t m_rows;
    std::vector<float> m_x, m_norm, m_hidden, m_vectors;
    std::vector<std::byte> m_scratch;
};

/// The products and norms of a decoder layer for one token.
void decoderLayer(ThreadPool& pool, const Weights& weights, std::size_t layer, float* x) {
    float* const norm = x + kWidth;
    float* const hidden = norm + kWidth;
    const auto* const vectors = reinterpret_cast<const std::byte*>(hidden + kHidden);
    LayerReader reader(weights, layer);
    const auto project = [&](std::size_t rows, std::size_t cols, const float* in, float* out,
                             const Epilogue& epilogue) {
        Matvec m;
        m.x = in;
        m.weights = reader.next(rows, cols);
        m.y = out;
        m.epilogue = epilogue;
        matvec(pool, m);
    };
    layerNorm(pool, x, kWidth, 1, kWidth, vectors, vectors, norm, kWidth);
    for (int i = 0; i < 3; ++i)
        project(kWidth, kWidth, norm, hidden, {vectors, false, nullptr, 0});
    project(kWidth, kWidth, hidden, x, residualEpilogue(vectors, x, kWidth));
    layerNorm(pool, x, kWidth, 1, kWidth, vectors, vectors, norm, kWidth);
    project(kHidden, kWidth, norm, hidden, {vectors, true, nullptr, 0});
    project(kWidth, kHidden, hidden, x, residualEpilogue(vectors, x, kWidth));
}

/// One layer of a decoding step that passes over all `weights`.
CallTimes decodeTimes(ThreadPool& pool, const Weights& weights) {
    std::vector<float> state = values(2 * kWidth + 2 * kHidden);
    const CallTimes times = callTimes([&] {
        for (std::size_t layer = 0; layer < weights.layers; ++layer)
            decoderLayer(pool, weights, layer, state.data());
    });
    const auto layers = static_cast<double>(weights.layers);
    return {times.median / layers, times.quickest / layers};
}

double encoderAttentionRate(ThreadPool& pool, std::size_t positions) {
    const std::vector<float> q = values(positions * kHeadDim);
    std::vector<float> out(q.size());
    std::vector<std::byte> scratch(encoderAttentionScratchBytes(positions, kHeadDim, 1));
    const EncoderAttention attention{q.data(),   kHeadDim, q.data(),  kHeadDim, q.data(), kHeadDim,
                                     out.data(), kHeadDim, positions, 1,        kHeadDim, 0.125f};
    const double seconds = medianSeconds([&] { encoderAttention(pool, attention, scratch); });
    return 4.0 * static_cast<double>(positions * positions * kHeadDim) / seconds;
}

double decodeAttentionRate(ThreadPool& pool) {
    const engine::kv::KvShape shape{engine::kv::KvType::F16, kHeads, kHeadDim, kPositions};
    std::vector<std::byte> keys(engine::kv::kvPartBytes(shape)), vals(keys.size());
    const KvCache cache{shape, keys.data(), vals.data()};
    const std::vector<float> x = values(kPositions * kWidth);
    storeKeys(pool, cache, 0, kPositions, x.data(), kWidth);
    storeValues(pool, cache, 0, kPositions, x.data(), kWidth);
    std::vector<float> out(kWidth);
    std::vector<std::byte> scratch(decodeAttentionScratchBytes(kPositions, 1));
    const double seconds = medianSeconds(
        [&] { decodeAttention(pool, cache, kPositions, x.data(), 0.125f, out.data(), scratch); });
    return 4.0 * static_cast<double>(kPositions * kWidth) / seconds;
}

double layerNormRate(ThreadPool& pool) {
    constexpr std::size_t kRows = 100;
    const std::vector<float> x = values(kRows * kWidth);
    const auto* const vectors = reinterpret_cast<const std::byte*>(x.data());
    std::vector<float> y(x.size());
    const double seconds = medianSeconds([&] {
        layerNorm(pool, x.data(), kWidth, kRows, kWidth, vectors, vectors, y.data(), kWidth);
    });
    return 8.0 * static_cast<double>(kRows * kWidth) / seconds;
}

/// A token's row and a position's row become one: as many additions as the model is wide.
double gatherRate(WeightType type) {
    const Weights table(type, 1);
    const std::vector<float> positions = values(kWidth);
    std::vector<float> x(kWidth);
    const double seconds = medianSeconds([&] {
        unpack(type, table.bytes.data(), kWidth, x.data());
        addTo(x.data(), positions.data(), kWidth);
    });
    return static_cast<double>(kWidth) / seconds;
}

/// Seconds that a loop with a task for each thread takes beside the tasks.
double handOffSeconds(ThreadPool& pool) {
    std::atomic<unsigned> done{0};
    return medianSeconds([&] {
        pool.parallelFor(pool.threads(), [&](std::size_t, unsigned) {
            done.fetch_add(1, std::memory_order_relaxed);
        });
    });
}

/// Rows for which an encoder layer takes some 30 ms, so that packing counts as it does in a run.
std::size_t rowsForProducts(ThreadPool& one, const Weights& weights) {
    constexpr std::size_t kFew = 32;
    EncoderLayer layer(kFew, 1);
    const double each = secondsOf([&] { layer.run(one, weights); }) / double{kFew};
    return static_cast<std::size_t>(
        std::clamp(0.03 / each, double{kFew}, static_cast<double>(kPositions)));
}

void rate(ComputeRates& rates, OpKind kind, double f32, double f16) {
    rates.opsPerSecond[static_cast<std::size_t>(kind)] = {f32, f16};
}

void measureProducts(ComputeRates& rates, ThreadPool& one, ThreadPool& all) {
    const Weights f32(WeightType::F32, 1), f16(WeightType::F16, 1);
    const std::size_t rows = rowsForProducts(one, f16);
    EncoderLayer layer(rows, all.threads());
    const double narrow = medianSeconds([&] { layer.run(one, f16); }, 0.1);
    const double wide = medianSeconds([&] { layer.run(one, f32); }, 0.1);
    rate(rates, OpKind::MatMul, layer.flops() / wide, layer.flops() / narrow);
    const double attention = encoderAttentionRate(one, rows < kPositions / 4 ? 256 : kPositions);
    rate(rates, OpKind::Attention, attention, decodeAttentionRate(one));
    if (all.threads() == 1)
        return;
    // Another program on one of the cores would halve the gain: the least disturbed of many short
    // calls tell it.
    EncoderLayer part(std::max(rows / 8, std::size_t{32}), all.threads());
    const double alone = callTimes([&] { part.run(one, f16); }, 0.1).quickest;
    const double together = callTimes([&] { part.run(all, f16); }, 0.1).quickest;
    rates.threadEfficiency = std::clamp((alone / together - 1) / (all.threads() - 1), 0.0, 1.0);
}

/// Products of one token: what the processor does with weights that its cache holds, and what the
/// memory brings of those that it does not hold.
void measureDecoding(ComputeRates& rates, ThreadPool& one, ThreadPool& all, base::Bytes memory) {
    const double flops = 2.0 * static_cast<double>(kLayerElements);
    const Weights f32(WeightType::F32, 1), f16(WeightType::F16, 1);
    const double wide = decodeTimes(one, f32).median;
    const double narrow = decodeTimes(one, f16).median;
    rate(rates, OpKind::MatVec, flops / wide, flops / narrow);
    const auto layers = std::max<std::size_t>(memory.size() / f16.layerBytes(), 1);
    const Weights many(WeightType::F16, layers);
    const CallTimes streamed = decodeTimes(one, many);
    rates.memoryBytesPerSecond = static_cast<double>(many.layerBytes()) / streamed.median;
    rates.memoryScale = std::max(1.0, streamed.quickest / decodeTimes(all, many).quickest);
}

} // namespace

base::Result<ComputeRates>
measureCompute(unsigned threads, base::Bytes memory, const std::string& folder) {
    ThreadPool one(1), all(threads);
    ComputeRates rates;
    measureProducts(rates, one, all);
    measureDecoding(rates, one, all, memory);
    const double vector = layerNormRate(one);
    rate(rates, OpKind::Vector, vector, vector);
    rate(rates, OpKind::RowGather, gatherRate(WeightType::F32), gatherRate(WeightType::F16));
    const auto mel = melRate(folder);
    if (!mel)
        return mel.error();
    rate(rates, OpKind::Mel, *mel, *mel);
    rates.opFixedNs = handOffSeconds(all) * 1e9;
    return rates;
}

} // namespace shardscope::probes
