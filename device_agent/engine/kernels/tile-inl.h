// SPDX-License-Identifier: GPL-3.0-or-later
// The register tile under every matrix product: kTileRows x kTileCols elements, each one chain of
// multiply-adds over ascending k.
#include "device_agent/engine/kernels/simd-inl.h"

#include "hwy/cache_control.h"

#if defined(SHARDSCOPE_KERNELS_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_TILE_INL_H
#undef SHARDSCOPE_KERNELS_TILE_INL_H
#else
#define SHARDSCOPE_KERNELS_TILE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

// The accumulators fill the registers but for the operands: 32 registers with AVX-512 and on 64-bit
// Arm (whose multiply-add takes no operand from memory), 16 elsewhere.
#if HWY_TARGET <= HWY_AVX3
inline constexpr std::size_t kTileRows = 14;
#elif HWY_ARCH_ARM_A64
inline constexpr std::size_t kTileRows = 12;
#elif HWY_ARCH_ARM
inline constexpr std::size_t kTileRows = 4; // more, and GCC keeps sums on the stack
#else
inline constexpr std::size_t kTileRows = 6;
#endif
inline constexpr std::size_t kTileVectors = 2;
inline constexpr std::size_t kTileCols = kTileVectors * hn::MaxLanes(Floats());

/// Where A's element (k, r) stands: packed by four k, [k/4][kRows][4].
template <std::size_t kRows>
struct QuadsOfK {
    std::size_t at(std::size_t k4, std::size_t kk, std::size_t r) const {
        return (k4 * kRows + r) * 4 + kk;
    }
};

/// ... k-major, [k][stride].
struct MajorK {
    std::size_t stride;
    std::size_t at(std::size_t k4, std::size_t kk, std::size_t r) const {
        return (k4 * 4 + kk) * stride + r;
    }
};

/// ... row-major, [r][stride].
struct MajorRow {
    std::size_t stride;
    std::size_t at(std::size_t k4, std::size_t kk, std::size_t r) const {
        return r * stride + k4 * 4 + kk;
    }
};

/// c[r][0 .. kTileCols) = (resume ? c : 0) + sum over k of a(k, r) * b[k][0 .. kTileCols).
/// b and c have their row distances in floats; nothing beyond kRows rows is touched.
template <std::size_t kRows, class Layout>
HWY_NOINLINE void tileProduct(
    std::size_t depth, const float* HWY_RESTRICT a, Layout layout, const float* HWY_RESTRICT b,
    std::size_t ldb, float* HWY_RESTRICT c, std::size_t ldc, bool resume) {
    const Floats d;
    using V = hn::Vec<Floats>;
    constexpr std::size_t kLanes = hn::MaxLanes(Floats());
    V sum[kRows][kTileVectors];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kTileVectors; ++v)
            sum[r][v] = resume ? hn::LoadU(d, c + r * ldc + v * kLanes) : hn::Zero(d);

    const auto step = [&](std::size_t k4, std::size_t kk) HWY_ATTR {
        V bv[kTileVectors];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kTileVectors; ++v)
            bv[v] = hn::LoadU(d, b + v * kLanes);
        b += ldb;
#pragma GCC unroll 16
        for (std::size_t r = 0; r < kRows; ++r) {
            const V av = hn::Set(d, a[layout.at(k4, kk, r)]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kTileVectors; ++v)
                sum[r][v] = hn::MulAdd(av, bv[v], sum[r][v]);
        }
    };
    const std::size_t quads = depth / 4;
    for (std::size_t k4 = 0; k4 < quads; ++k4)
#pragma GCC unroll 4
        for (std::size_t kk = 0; kk < 4; ++kk)
            step(k4, kk);
    for (std::size_t kk = 0; kk < depth % 4; ++kk)
        step(quads, kk);

#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kTileVectors; ++v)
            hn::StoreU(sum[r][v], d, c + r * ldc + v * kLanes);
}

/// Packs kRows rows of A (of which `valid` exist, the others become zeros) as QuadsOfK.
template <std::size_t kRows>
HWY_INLINE void
packQuads(const float* a, std::size_t lda, std::size_t valid, std::size_t depth, float* packed) {
    const std::size_t quads = depth / 4;
    const std::size_t rest = depth % 4;
    const std::size_t stride = (quads + (rest != 0 ? 1 : 0)) * kRows * 4;
    if (valid < kRows || rest != 0)
        std::memset(packed, 0, stride * sizeof(float));
    for (std::size_t r = 0; r < valid; ++r) {
        const float* from = a + r * lda;
        float* to = packed + r * 4;
        const std::size_t ahead = r + 3 < valid ? 3 * lda : 0; // rows are too short to be foreseen
        std::size_t k4 = 0;
        for (; k4 + 4 <= quads; k4 += 4, from += 16, to += kRows * 16) {
            hwy::Prefetch(from + ahead);
            for (std::size_t i = 0; i < 4; ++i)
                std::memcpy(to + i * kRows * 4, from + i * 4, 4 * sizeof(float));
        }
        for (; k4 < quads; ++k4, from += 4, to += kRows * 4)
            std::memcpy(to, from, 4 * sizeof(float));
        std::memcpy(to, from, rest * sizeof(float));
    }
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
