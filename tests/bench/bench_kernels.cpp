// SPDX-License-Identifier: GPL-3.0-or-later
// Rates of the kernels on the shapes of Whisper; the last argument of each is the number of
// threads. SHARDSCOPE_VECTOR_TARGET=AVX2 (or another name) takes an instruction set other than the
// best.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "device_agent/engine/kernels/decode_attention.h"
#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/kernels/encoder_attention.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/matvec.h"
#include "device_agent/engine/kernels/shared_attention.h"
#include "device_agent/engine/kernels/vector_targets.h"

using namespace shardscope::engine;
using namespace shardscope::engine::kernels;

namespace {

/// As the engine's arena hands out memory: on cache lines.
template <typename T>
struct OnCacheLines {
    using value_type = T;
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
    bool operator==(const OnCacheLines&) const { return true; }
};
using Floats = std::vector<float, OnCacheLines<float>>;
using Bytes = std::vector<std::byte, OnCacheLines<std::byte>>;

Floats values(std::size_t count) {
    Floats v(count);
    std::uint32_t state = 1;
    for (float& x : v) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
    return v;
}

/// Halves in [1, 2) and so never subnormal, which some processors slow down for.
Bytes halves(std::size_t count) {
    Bytes bytes(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<std::uint16_t>(0x3C00u | (i * 2654435761u >> 20 & 1023u));
        std::memcpy(&bytes[i * 2], &bits, sizeof bits);
    }
    return bytes;
}

std::size_t arg(const benchmark::State& state, int i) {
    return static_cast<std::size_t>(state.range(i));
}

void count(benchmark::State& state, const char* what, double each) {
    state.counters[what] = benchmark::Counter(
        each * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void gemmF16(benchmark::State& state) {
    const std::size_t m = arg(state, 0), k = arg(state, 1), n = arg(state, 2);
    ThreadPool pool(static_cast<unsigned>(arg(state, 3)));
    const auto a = values(m * k);
    const auto w = halves(n * k);
    const auto bias = values(n);
    Floats c(m * n);
    Bytes scratch(gemmScratchBytes(n, k, pool.threads()));
    Epilogue epilogue;
    epilogue.bias = reinterpret_cast<const std::byte*>(bias.data());
    epilogue.gelu = n > k;
    const Gemm product{a.data(),           m,        k, {w.data(), WeightType::F16, n, k},
                       WeightOrder::Plain, c.data(), n, epilogue};
    for (auto _ : state)
        gemm(pool, product, scratch);
    count(state, "flop", 2.0 * static_cast<double>(m * n * k));
}

/// Blocks whose halves are in [1, 2) and whose numbers are any.
Bytes weights(WeightType type, std::size_t count) {
    if (type == WeightType::F16)
        return halves(count);
    const std::size_t unit = weightBlockBytes(type);
    Bytes bytes(weightBytes(type, count));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i * 2654435761u >> 20);
    for (std::size_t at = 0; at < bytes.size(); at += unit)
        for (const std::size_t high : {1u, 3u})
            bytes[at + high] = std::byte{0x3D};
    return bytes;
}

/// Products with all of the weights of a decoding step, or with `megabytes` of them.
void matvecOf(benchmark::State& state, WeightType type, std::size_t megabytes) {
    const std::size_t n = arg(state, 0), k = arg(state, 1), m = arg(state, 2);
    ThreadPool pool(static_cast<unsigned>(arg(state, 3)));
    const auto x = values(m * k);
    const std::size_t bytes = weightBytes(type, n * k);
    const std::size_t copies = std::max<std::size_t>((megabytes << 20) / bytes, 1);
    const auto w = weights(type, n * k * copies);
    Floats y(m * n);
    std::size_t copy = 0;
    for (auto _ : state) {
        matvec(pool, {x.data(), m, k, {&w[copy * bytes], type, n, k}, y.data(), n, {}});
        copy = (copy + 1) % copies;
    }
    count(state, "bytes", static_cast<double>(bytes));
    count(state, "weights", static_cast<double>(n * k));
}

// As many copies as no cache holds, as in a decoding step, which passes over all weights.
constexpr std::size_t kBeyondCaches = 160;
void matvecF16(benchmark::State& state) {
    matvecOf(state, WeightType::F16, kBeyondCaches);
}
void matvecQ8_0(benchmark::State& state) {
    matvecOf(state, WeightType::Q8_0, kBeyondCaches);
}
void matvecQ5_0(benchmark::State& state) {
    matvecOf(state, WeightType::Q5_0, kBeyondCaches);
}
void matvecQ5_1(benchmark::State& state) {
    matvecOf(state, WeightType::Q5_1, kBeyondCaches);
}
void matvecQ4_0(benchmark::State& state) {
    matvecOf(state, WeightType::Q4_0, kBeyondCaches);
}
void matvecQ4_1(benchmark::State& state) {
    matvecOf(state, WeightType::Q4_1, kBeyondCaches);
}

void encoderAttentionOf(benchmark::State& state) {
    const std::size_t n = arg(state, 0), heads = arg(state, 1), width = heads * 64;
    ThreadPool pool(static_cast<unsigned>(arg(state, 2)));
    const auto q = values(n * width);
    Floats out(n * width);
    Bytes scratch(encoderAttentionScratchBytes(n, 64, pool.threads()));
    const EncoderAttention attention{q.data(),   width, q.data(), width, q.data(), width,
                                     out.data(), width, n,        heads, 64,       0.125f};
    for (auto _ : state)
        encoderAttention(pool, attention, scratch);
    count(state, "flop", 4.0 * static_cast<double>(n * n * width));
}

void decodeAttentionOf(benchmark::State& state) {
    const std::size_t n = arg(state, 0), heads = arg(state, 1), width = heads * 64;
    const auto type = static_cast<kv::KvType>(arg(state, 2));
    ThreadPool pool(static_cast<unsigned>(arg(state, 3)));
    const kv::KvShape shape{type, heads, 64, n};
    const std::size_t part = kv::kvPartBytes(shape);
    constexpr std::size_t kLayers = 32; // more than the caches hold
    Bytes keys(part * kLayers), vals(part * kLayers);
    const auto x = values(n * width);
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
        const KvCache cache{shape, &keys[layer * part], &vals[layer * part]};
        storeKeys(pool, cache, 0, n, x.data(), width);
        storeValues(pool, cache, 0, n, x.data(), width);
    }
    Floats out(width);
    Bytes scratch(decodeAttentionScratchBytes(n, pool.threads()));
    std::size_t layer = 0;
    for (auto _ : state) {
        const KvCache cache{shape, &keys[layer * part], &vals[layer * part]};
        decodeAttention(pool, cache, n, x.data(), 0.125f, out.data(), scratch);
        layer = (layer + 1) % kLayers;
    }
    count(state, "bytes", 2.0 * static_cast<double>(part));
}

void storeKeysOf(benchmark::State& state) {
    const std::size_t n = arg(state, 0), heads = arg(state, 1), width = heads * 64;
    ThreadPool pool(static_cast<unsigned>(arg(state, 3)));
    const kv::KvShape shape{static_cast<kv::KvType>(arg(state, 2)), heads, 64, n};
    Bytes keys(kv::kvPartBytes(shape)), vals(kv::kvPartBytes(shape));
    const auto x = values(n * width);
    const KvCache cache{shape, keys.data(), vals.data()};
    for (auto _ : state) {
        storeKeys(pool, cache, 0, n, x.data(), width);
        storeValues(pool, cache, 0, n, x.data(), width);
    }
    count(state, "elements", 2.0 * static_cast<double>(n * width));
}

void sharedAttentionOf(benchmark::State& state) {
    const std::size_t n = arg(state, 0), heads = arg(state, 1), width = heads * 64;
    ThreadPool pool(static_cast<unsigned>(arg(state, 2)));
    const auto encoded = values(n * width);
    const auto w = halves(width * width);
    Floats out(width);
    Bytes scratch(sharedAttentionScratchBytes(n, width, heads));
    const WeightView view{w.data(), WeightType::F16, width, width};
    const SharedAttention attention{encoded.data(), n, heads, view, view, nullptr, 0.125f};
    for (auto _ : state)
        sharedAttention(pool, attention, encoded.data(), out.data(), scratch);
    count(state, "flop", 4.0 * static_cast<double>(n * width * heads));
}

void layerNormOf(benchmark::State& state) {
    const std::size_t n = arg(state, 0), width = arg(state, 1);
    ThreadPool pool(static_cast<unsigned>(arg(state, 2)));
    const auto x = values(n * width);
    const auto* w = reinterpret_cast<const std::byte*>(x.data());
    Floats y(n * width);
    for (auto _ : state)
        layerNorm(pool, x.data(), width, n, width, w, w, y.data(), width);
    count(state, "elements", static_cast<double>(n * width));
}

void argmaxOf(benchmark::State& state) {
    const auto x = values(arg(state, 0));
    for (auto _ : state)
        benchmark::DoNotOptimize(argmax(x.data(), x.size(), 0, {}));
    count(state, "elements", static_cast<double>(x.size()));
}

/// What the memory gives: every byte read once, by plain sums of vectors through maxOf.
void memoryRead(benchmark::State& state) {
    ThreadPool pool(static_cast<unsigned>(arg(state, 0)));
    const auto x = values(std::size_t{40} << 20);
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    for (auto _ : state)
        pool.parallelFor(x.size() / kPiece, [&](std::size_t task, unsigned) {
            benchmark::DoNotOptimize(maxOf(&x[task * kPiece], kPiece));
        });
    count(state, "bytes", static_cast<double>(x.size() * sizeof(float)));
}

void handOff(benchmark::State& state) {
    ThreadPool pool(static_cast<unsigned>(arg(state, 0)));
    for (auto _ : state)
        pool.parallelFor(
            pool.threads(), [](std::size_t task, unsigned) { benchmark::DoNotOptimize(task); });
}

void threads(benchmark::internal::Benchmark* b, std::vector<std::int64_t> args) {
    for (const std::int64_t n : {1, 2}) {
        std::vector<std::int64_t> all = args;
        all.push_back(n);
        b->Args(all);
    }
}

#define SHARDSCOPE_BENCH(fn, ...)                                                                  \
    BENCHMARK(fn)->UseRealTime()->Apply([](auto* b) {                                              \
        for (const std::vector<std::int64_t>& args :                                               \
             std::vector<std::vector<std::int64_t>>{__VA_ARGS__})                                  \
            threads(b, args);                                                                      \
    })

SHARDSCOPE_BENCH(memoryRead, {});
SHARDSCOPE_BENCH(handOff, {});
SHARDSCOPE_BENCH(
    gemmF16, {1500, 384, 384}, {1500, 384, 1536}, {1500, 1536, 384}, {3000, 240, 384},
    {1500, 512, 2048}, {1500, 2048, 512}, {1500, 1280, 5120}, {1500, 5120, 1280});
SHARDSCOPE_BENCH(
    matvecF16, {51864, 384, 1}, {1536, 384, 1}, {384, 1536, 1}, {384, 384, 1}, {51864, 384, 4},
    {51864, 384, 8}, {5120, 1280, 1});
SHARDSCOPE_BENCH(matvecQ8_0, {1536, 384, 1}, {512, 384, 1}, {384, 1536, 4}, {5120, 1280, 1});
SHARDSCOPE_BENCH(matvecQ5_0, {1536, 384, 1}, {512, 384, 1}, {384, 1536, 4}, {5120, 1280, 1});
SHARDSCOPE_BENCH(matvecQ5_1, {1536, 384, 1}, {512, 384, 1}, {384, 1536, 4}, {5120, 1280, 1});
SHARDSCOPE_BENCH(matvecQ4_0, {1536, 384, 1}, {512, 384, 1}, {384, 1536, 4}, {5120, 1280, 1});
SHARDSCOPE_BENCH(matvecQ4_1, {1536, 384, 1}, {512, 384, 1}, {384, 1536, 4}, {5120, 1280, 1});
SHARDSCOPE_BENCH(encoderAttentionOf, {1500, 6}, {1500, 8}, {750, 6});
SHARDSCOPE_BENCH(
    decodeAttentionOf, {1500, 6, 0}, {1500, 6, 1}, {1500, 6, 2}, {1500, 6, 3}, {100, 6, 1});
SHARDSCOPE_BENCH(storeKeysOf, {1500, 6, 0}, {1500, 6, 1}, {1500, 6, 2}, {1, 6, 1});
SHARDSCOPE_BENCH(sharedAttentionOf, {1500, 6}, {1500, 8}, {1500, 20});
SHARDSCOPE_BENCH(layerNormOf, {1500, 384});
BENCHMARK(argmaxOf)->Arg(51864);

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (const char* wanted = std::getenv("SHARDSCOPE_VECTOR_TARGET"))
        for (std::size_t i = 0; i < vectorTargetCount(); ++i)
            if (std::strcmp(vectorTargetName(i), wanted) == 0)
                useVectorTarget(i);
    benchmark::AddCustomContext("vectors", vectorTargetName());
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
