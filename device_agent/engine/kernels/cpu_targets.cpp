// SPDX-License-Identifier: GPL-3.0-or-later
// The run-time part of Highway: which instruction sets this processor has, and the one in use. Its
// own library is packaged as a shared object only, and the agent is one static file; the headers
// ask for these three functions and nothing else.
#include "hwy/highway.h"

namespace hwy {
namespace {

/// What a test allows; 0: everything.
std::atomic<std::int64_t> g_allowed{0};

/// The bits of all sets that the kernels may be compiled for. The compiler's function asks the
/// processor, and the system whether it saves the wider registers.
std::int64_t detected() {
#if HWY_ARCH_X86
    const auto all = [](auto... has) { return ((has != 0) && ...); };
    __builtin_cpu_init();
    std::int64_t targets = HWY_STATIC_TARGET;
    if (!all(
            __builtin_cpu_supports("ssse3"), __builtin_cpu_supports("sse4.1"),
            __builtin_cpu_supports("sse4.2"), __builtin_cpu_supports("pclmul"),
            __builtin_cpu_supports("aes")))
        return targets;
    targets |= HWY_SSSE3 | HWY_SSE4;
    if (!all(
            __builtin_cpu_supports("avx"), __builtin_cpu_supports("avx2"),
            __builtin_cpu_supports("fma"), __builtin_cpu_supports("bmi"),
            __builtin_cpu_supports("bmi2"), __builtin_cpu_supports("f16c")))
        return targets;
    targets |= HWY_AVX2;
    if (all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
            __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512bw")))
        targets |= HWY_AVX3;
    return targets;
#else
    return HWY_STATIC_TARGET; // the build names the processor
#endif
}

} // namespace

std::int64_t SupportedTargets() {
    static const std::int64_t all = detected();
    const std::int64_t allowed = g_allowed.load(std::memory_order_relaxed);
    return allowed != 0 ? allowed : all;
}

void SetSupportedTargetsForTest(std::int64_t targets) {
    g_allowed.store(targets, std::memory_order_relaxed);
    GetChosenTarget().DeInit(); // the next call of a kernel chooses anew
}

ChosenTarget& GetChosenTarget() {
    static ChosenTarget chosen;
    return chosen;
}

} // namespace hwy
