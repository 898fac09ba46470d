// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/kernel_rates.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "device_agent/engine/kernels/decode_attention.h"
#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/kernels/encoder_attention.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/matvec.h"
#include "device_agent/engine/kernels/shared_attention.h"
#include "device_agent/engine/weights/run_clock.h"
#include "device_agent/probes/kernel_data.h"
#include "device_agent/probes/stopwatch.h"
#include "sim_engine/trace/event_ring.h"

namespace shardscope::probes {
namespace {

using namespace engine::kernels;

constexpr std::size_t kWidth = 384, kHeads = 6, kHeadDim = 64, kPositions = 1500;
constexpr std::size_t kVocabulary = 51864;
constexpr double kBudget = 0.02; ///< seconds of one measurement in one round

static_assert(static_cast<int>(WeightType::Q5_1) == static_cast<int>(model::DType::Q5_1));
WeightType typeOf(model::DType type) {
    return static_cast<WeightType>(type);
}

double real(std::size_t n) {
    return static_cast<double>(n);
}

/// One thread is timed by what it had of the processor, several by the clock on the wall: of those
/// the quickest call is the one that other programs disturbed least.
template <typename Fn>
Work timed(const ThreadPool& pool, double operations, Fn&& fn) {
    const double seconds = pool.threads() == 1 ? callTimes<ThreadClock>(fn, kBudget).median
                                               : callTimes(fn, kBudget).quickest;
    return {seconds, operations};
}

/// Each of `threads` calls what make(its number) gives, again and again, all at once; seconds of
/// the processor for a call.
template <typename Make>
double secondsBeside(unsigned threads, Make&& make) {
    constexpr double kSeconds = 0.06;
    std::atomic<unsigned> ready{0};
    std::vector<double> each(threads);
    const auto work = [&](unsigned thread) {
        auto fn = make(thread);
        fn(); // warms up
        ready.fetch_add(1);
        while (ready.load() < threads)
            std::this_thread::yield();
        int calls = 0;
        const double begin = threadSeconds();
        for (double wall = 0; wall < kSeconds || calls < 2; ++calls)
            wall += secondsOf(fn);
        each[thread] = (threadSeconds() - begin) / calls;
    };
    std::vector<std::thread> all;
    for (unsigned thread = 0; thread < threads; ++thread)
        all.emplace_back(work, thread);
    for (std::thread& t : all)
        t.join();
    return *std::max_element(each.begin(), each.end());
}

engine::kv::KvType kvOf(model::KvType type) {
    static_assert(static_cast<int>(model::KvType::Q4) == static_cast<int>(engine::kv::KvType::Q4));
    return static_cast<engine::kv::KvType>(type);
}

const std::byte* bytesOf(const std::vector<float>& v) {
    return reinterpret_cast<const std::byte*>(v.data());
}

} // namespace

KernelRates::KernelRates(unsigned mostThreads, std::size_t streamBytes)
    : m_stream(weightBytes(std::max(streamBytes, std::size_t{6} << 20))),
      m_in(floats(kPositions * 4 * kWidth + 4096)), m_out(kPositions * 4 * kWidth + 4096),
      m_scratch(std::max(
          {gemmScratchBytes(2048, 512, mostThreads), gemmScratchBytes(512, 2048, mostThreads),
           encoderAttentionScratchBytes(kPositions, kHeadDim, mostThreads),
           decodeAttentionScratchBytes(kPositions, mostThreads),
           sharedAttentionScratchBytes(kPositions, kWidth, kHeads)})) {}

/// Rows with which a product takes some 20 ms, so that packing counts as it does in a run, and no
/// more than the buffers hold at this depth.
std::size_t KernelRates::rowsFor(std::size_t depth) {
    if (m_rows == 0) {
        constexpr std::size_t kFew = 32;
        Gemm g;
        g.a = m_in.data();
        g.rows = kFew;
        g.lda = kWidth;
        g.weights = Matrices(m_stream, WeightType::F16, 4 * kWidth, kWidth).at(0);
        g.c = m_out.data();
        g.ldc = 4 * kWidth;
        ThreadPool one(1);
        const double each = secondsOf([&] { gemm(one, g, m_scratch); }) / real(kFew);
        m_rows = static_cast<std::size_t>(std::clamp(0.02 / each, real(kFew), real(kPositions)));
    }
    return std::min(m_rows, m_in.size() / depth);
}

Work KernelRates::product(Pool& pool, DType type, bool isDeep) {
    double operations = 0;
    std::vector<Gemm> products;
    for (const std::size_t width : {std::size_t{384}, std::size_t{512}}) {
        const std::size_t k = isDeep ? 4 * width : width, n = isDeep ? width : 4 * width;
        Gemm g;
        g.a = m_in.data();
        g.lda = k;
        g.weights = Matrices(m_stream, typeOf(type), n, k).at(0);
        g.c = m_out.data();
        g.ldc = n;
        g.rows = std::min(rowsFor(k), m_out.size() / n);
        operations += 2.0 * real(g.rows) * real(n * k);
        products.push_back(g);
    }
    return timed(pool, operations, [&] {
        for (const Gemm& g : products)
            gemm(pool, g, m_scratch);
    });
}

KernelRates::Gemm KernelRates::shortGemm() {
    Gemm g;
    g.a = m_in.data();
    g.rows = std::min<std::size_t>(rowsFor(kWidth), 256);
    g.lda = kWidth;
    g.weights = Matrices(m_stream, WeightType::F16, 4 * kWidth, kWidth).at(0);
    g.c = m_out.data();
    g.ldc = 4 * kWidth;
    return g;
}

double KernelRates::shortProduct(Pool& pool) {
    return callTimes([&, g = shortGemm()] { gemm(pool, g, m_scratch); }, 0.08).quickest;
}

Work KernelRates::convolution(Pool& pool, DType type) {
    const std::size_t k = 3 * kWidth;
    Gemm g;
    g.a = m_in.data();
    g.lda = 2 * kWidth; // rows overlap: every second frame with its neighbours
    g.rows = std::min(rowsFor(g.lda), (m_in.size() - k) / g.lda);
    g.weights = Matrices(m_stream, typeOf(type), kWidth, k).at(0);
    g.order = WeightOrder::Conv3;
    g.c = m_out.data();
    g.ldc = kWidth;
    return timed(pool, 2.0 * real(g.rows) * real(kWidth * k), [&] { gemm(pool, g, m_scratch); });
}

Work KernelRates::matvec(Pool& pool, DType type, std::size_t rows, bool streamed) {
    const Matrices all(m_stream, typeOf(type), streamed ? 4 * kWidth : kWidth, kWidth);
    const std::size_t count = streamed ? all.count() : 1;
    Matvec m;
    m.x = m_in.data();
    m.rows = rows;
    m.ldx = kWidth;
    m.y = m_out.data();
    m.ldy = 4 * kWidth;
    return timed(pool, 2.0 * real(rows * count) * real(all.at(0).rows * kWidth), [&] {
        for (std::size_t i = 0; i < count; ++i) {
            m.weights = all.at(i);
            engine::kernels::matvec(pool, m);
        }
    });
}

void KernelRates::stream(Pool& pool) {
    const Matrices all(m_stream, WeightType::F16, 4 * kWidth, kWidth);
    Matvec m;
    m.x = m_in.data();
    m.y = m_out.data();
    for (std::size_t i = 0; i < all.count(); ++i) {
        m.weights = all.at(i);
        engine::kernels::matvec(pool, m);
    }
}

double KernelRates::streamSeconds(Pool& pool) {
    return callTimes([&] { stream(pool); }, 0.08).quickest;
}

double KernelRates::productBeside(unsigned threads) {
    const Gemm whole = shortGemm();
    const std::size_t results = whole.rows * whole.ldc;
    return secondsBeside(threads, [&](unsigned) {
        return [whole, out = std::vector<float>(results),
                scratch = std::vector<std::byte>(gemmScratchBytes(4 * kWidth, kWidth, 1)),
                one = std::make_unique<ThreadPool>(1)]() mutable {
            Gemm g = whole;
            g.c = out.data();
            gemm(*one, g, scratch);
        };
    });
}

double KernelRates::streamBeside(unsigned threads) {
    const Matrices all(m_stream, WeightType::F16, 4 * kWidth, kWidth);
    return secondsBeside(threads, [&](unsigned thread) {
        // Each begins elsewhere, so that none finds in a shared cache what another has fetched.
        return [&all, this, next = all.count() * thread / threads,
                out = std::vector<float>(4 * kWidth),
                one = std::make_unique<ThreadPool>(1)]() mutable {
            Matvec m;
            m.x = m_in.data();
            m.y = out.data();
            for (std::size_t i = 0; i < all.count(); ++i) {
                m.weights = all.at(next++ % all.count());
                engine::kernels::matvec(*one, m);
            }
        };
    });
}

double KernelRates::streamBytes() const {
    return real(Matrices(m_stream, WeightType::F16, 4 * kWidth, kWidth).bytes());
}

Work KernelRates::encodeAttention(Pool& pool) {
    // A slow board would take minutes for all positions; the rate hardly depends on them.
    const std::size_t positions = rowsFor(kWidth) < kPositions / 4 ? 256 : kPositions;
    const EncoderAttention a{m_in.data(),  kWidth, m_in.data(), kWidth, m_in.data(), kWidth,
                             m_out.data(), kWidth, positions,   1,      kHeadDim,    0.125f};
    return timed(pool, 4.0 * real(positions * positions) * real(kHeadDim), [&] {
        encoderAttention(pool, a, m_scratch);
    });
}

Work KernelRates::decodeAttention(Pool& pool, model::KvType type, bool streamed) {
    const engine::kv::KvShape shape{kvOf(type), kHeads, kHeadDim, kPositions};
    const std::size_t part = engine::kv::kvPartBytes(shape);
    const std::size_t layers =
        streamed ? std::clamp<std::size_t>(m_stream.size() / (2 * part), 1, 32) : 1;
    std::vector<std::byte> memory(2 * part * layers);
    std::vector<KvCache> caches;
    for (std::size_t i = 0; i < layers; ++i) {
        caches.push_back({shape, &memory[2 * part * i], &memory[2 * part * i + part]});
        storeKeys(pool, caches[i], 0, kPositions, m_in.data(), kWidth);
        storeValues(pool, caches[i], 0, kPositions, m_in.data(), kWidth);
    }
    return timed(pool, 4.0 * real(kPositions * kWidth) * real(layers), [&] {
        for (const KvCache& cache : caches)
            engine::kernels::decodeAttention(
                pool, cache, kPositions, m_in.data(), 0.125f, m_out.data(), m_scratch);
    });
}

Work KernelRates::sharedAttention(Pool& pool, DType type) {
    const Matrices square(m_stream, typeOf(type), kWidth, kWidth);
    const SharedAttention a{m_in.data(),  kPositions, kHeads, square.at(0),
                            square.at(1), nullptr,    0.125f};
    const double operations =
        4.0 * real(kPositions * kWidth) * real(kHeads) + 4.0 * real(kWidth * kWidth);
    return timed(pool, operations, [&] {
        engine::kernels::sharedAttention(pool, a, m_in.data(), m_out.data(), m_scratch);
    });
}

Work KernelRates::layerNorm(Pool& pool) {
    constexpr std::size_t kRows = 100;
    const std::byte* vectors = bytesOf(m_in);
    return timed(pool, 8.0 * real(kRows * kWidth), [&] {
        engine::kernels::layerNorm(
            pool, m_in.data(), kWidth, kRows, kWidth, vectors, vectors, m_out.data(), kWidth);
    });
}

/// A token's row and a position's row become one: as many additions as the model is wide.
Work KernelRates::rowGather(Pool& pool, DType type) {
    return timed(pool, real(kWidth), [&] {
        unpack(typeOf(type), m_stream.data(), kWidth, m_out.data());
        addTo(m_out.data(), m_in.data(), kWidth);
    });
}

double KernelRates::handOff(Pool& pool) {
    std::atomic<unsigned> done{0};
    return callTimes(
               [&] {
                   pool.parallelFor(pool.threads(), [&](std::size_t, unsigned) {
                       done.fetch_add(1, std::memory_order_relaxed);
                   });
               },
               kBudget / 2)
        .quickest;
}

double KernelRates::opAlone() {
    const engine::RunClock clock;
    trace::EventRing ring(64);
    std::array<trace::Event, 32> sink;
    std::size_t calls = 0;
    return medianSeconds(
        [&] {
            trace::Event span;
            span.kind = trace::EventKind::Compute;
            span.t_ns = clock.now();
            span.a = clock.now() - span.t_ns;
            ring.push(span);
            if (++calls % sink.size() == 0)
                ring.drain(sink);
        },
        kBudget / 4);
}

double KernelRates::choice() {
    const std::vector<std::uint64_t> skip(kVocabulary / 64 + 1, std::uint64_t{1} << 40);
    std::size_t found = 0;
    return medianSeconds(
        [&] { found += argmax(m_in.data(), kVocabulary, 0, skip).index; }, kBudget / 4);
}

} // namespace shardscope::probes
