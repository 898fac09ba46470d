// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/epilogue.h"
#include "device_agent/engine/kernels/simd-inl.h"

#if defined(SHARDSCOPE_KERNELS_EPILOGUE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_KERNELS_EPILOGUE_INL_H
#undef SHARDSCOPE_KERNELS_EPILOGUE_INL_H
#else
#define SHARDSCOPE_KERNELS_EPILOGUE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::kernels::HWY_NAMESPACE {

/// c[i] = epilogue(product[i]) for columns [column, column + count) of one row; product may be c.
/// `addend` stands at the row's first column.
HWY_INLINE void applyEpilogue(
    const Epilogue& epilogue, const std::byte* addend, std::size_t column, std::size_t count,
    const float* product, float* c) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto finish = [&](hn::Vec<Floats> v, auto load, std::size_t i) HWY_ATTR {
        if (epilogue.bias != nullptr)
            v = hn::Add(v, load(epilogue.bias + (column + i) * sizeof(float)));
        if (epilogue.gelu)
            v = geluOf(d, v);
        if (addend != nullptr)
            v = hn::Add(load(addend + (column + i) * sizeof(float)), v);
        return v;
    };
    const auto whole = [&](const std::byte* at) HWY_ATTR { return loadBytes(d, at); };
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(finish(hn::LoadU(d, product + i), whole, i), d, c + i);
    if (i < count) {
        const std::size_t rest = count - i;
        const auto first = [&](const std::byte* at) HWY_ATTR { return loadFirst(d, at, rest); };
        storeFirst(d, finish(loadFirst(d, product + i, rest), first, i), c + i, rest);
    }
}

} // namespace shardscope::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
