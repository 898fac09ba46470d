// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that knows how cache elements of each type become float32 vectors and back
// (device_agent/engine/kv/kv_format.h says how they lie). Q4 is handled in pairs: of dims 2i, 2i+1
// in a key block and of dims i, i + dim/2 in a value row; the others one by one.
#include "device_agent/engine/kernels/simd-inl.h"
#include "device_agent/engine/kv/kv_format.h"
#include "sim_engine/base/half.h"

#include <algorithm>
#include <cmath>

#if defined(SHARDSCOPE_KERNELS_KV_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_KV_ELEMENTS_INL_H
#undef SHARDSCOPE_KERNELS_KV_ELEMENTS_INL_H
#else
#define SHARDSCOPE_KERNELS_KV_ELEMENTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

struct KvF32 {
    static constexpr bool kPairs = false;
    static constexpr bool kScaled = false;
    static constexpr float kLimit = 0.0f;
    static constexpr std::size_t bytes(std::size_t count) { return count * 4; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load([[maybe_unused]] D d, const std::byte* at) {
        return loadBytes(d, at);
    }
    template <class D>
    static HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> v, std::byte* at) {
        storeBytes(d, v, at);
    }
};

struct KvF16 {
    static constexpr bool kPairs = false;
    static constexpr bool kScaled = false;
    static constexpr float kLimit = 0.0f;
    static constexpr std::size_t bytes(std::size_t count) { return count * 2; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load([[maybe_unused]] D d, const std::byte* at) {
        const hn::Rebind<hwy::float16_t, D> half;
        return hn::PromoteTo(d, loadBytes(half, at));
    }
    template <class D>
    static HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> v, std::byte* at) {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64 // the processor rounds to nearest even itself
        const hn::Rebind<hwy::float16_t, D> half;
        storeBytes(half, hn::DemoteTo(half, v), at);
#else
        HWY_ALIGN float lanes[16];
        hn::Store(v, d, lanes);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
            const std::uint16_t bits = base::halfFromFloat(lanes[i]);
            std::memcpy(at + i * 2, &bits, sizeof bits);
        }
#endif
    }
};

struct KvQ8 {
    static constexpr bool kPairs = false;
    static constexpr bool kScaled = true;
    static constexpr float kLimit = 127.0f;
    static constexpr std::size_t bytes(std::size_t count) { return count; }

    template <class D>
    static HWY_INLINE hn::Vec<D> load([[maybe_unused]] D d, const std::byte* at) {
        const hn::Rebind<std::int8_t, D> small;
        const hn::Rebind<std::int32_t, D> wide;
        return hn::ConvertTo(d, hn::PromoteTo(wide, loadBytes(small, at)));
    }
    template <class D>
    static HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> v, std::byte* at) {
        const hn::Rebind<std::int8_t, D> small;
        storeBytes(small, hn::DemoteTo(small, hn::NearestInt(v)), at);
    }
};

struct KvQ4 {
    static constexpr bool kPairs = true;
    static constexpr bool kScaled = true;
    static constexpr float kLimit = 7.0f;
    static constexpr std::size_t bytes(std::size_t count) { return count / 2; }

    /// The low and the high nibbles of `lanes` bytes.
    template <class D>
    static HWY_INLINE void
    load([[maybe_unused]] D d, const std::byte* at, hn::Vec<D>& low, hn::Vec<D>& high) {
        const hn::Rebind<std::uint8_t, D> small;
        const hn::Rebind<std::int32_t, D> wide;
        const auto both = hn::PromoteTo(wide, loadBytes(small, at));
        const auto bias = hn::Set(wide, 8);
        low = hn::ConvertTo(d, hn::Sub(hn::And(both, hn::Set(wide, 15)), bias));
        high = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<4>(both), bias));
    }
    template <class D>
    static HWY_INLINE void
    store([[maybe_unused]] D d, hn::Vec<D> low, hn::Vec<D> high, std::byte* at) {
        const hn::Rebind<std::uint8_t, D> small;
        const hn::Rebind<std::int32_t, D> wide;
        const auto bias = hn::Set(wide, 8);
        const auto l = hn::Add(hn::NearestInt(low), bias);
        const auto h = hn::ShiftLeft<4>(hn::Add(hn::NearestInt(high), bias));
        storeBytes(small, hn::DemoteTo(small, hn::Or(l, h)), at);
    }
};

/// Calls body with the element type: withKvType(type, [&](auto element) { ... }).
template <class Body>
HWY_INLINE void withKvType(kv::KvType type, Body body) {
    switch (type) {
    case kv::KvType::F32:
        return body(KvF32());
    case kv::KvType::F16:
        return body(KvF16());
    case kv::KvType::Q8:
        return body(KvQ8());
    case kv::KvType::Q4:
        return body(KvQ4());
    }
}

/// max|x| / limit of each lane, 1 where all are zero.
template <class Element, class D>
HWY_INLINE hn::Vec<D> scaleOf(D d, hn::Vec<D> most) {
    const auto scale = hn::Div(most, hn::Set(d, Element::kLimit));
    return hn::IfThenElse(hn::Eq(scale, hn::Zero(d)), hn::Set(d, 1.0f), scale);
}

/// v / scale within the limit, not rounded yet; v itself for the types without scales.
template <class Element, class D>
HWY_INLINE hn::Vec<D> quantised([[maybe_unused]] D d, hn::Vec<D> v, hn::Vec<D> scale) {
    if constexpr (!Element::kScaled)
        return v;
    const auto limit = hn::Set(d, Element::kLimit);
    return hn::Min(hn::Max(hn::Div(v, scale), hn::Neg(limit)), limit);
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
