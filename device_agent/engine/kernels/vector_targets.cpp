// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/vector_targets.h"

#include "hwy/highway.h"

namespace shardscope::engine::kernels {

namespace {

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
constexpr std::int64_t common() {
    return HWY_TARGETS;
}
void restrictTo(std::int64_t) {}
#else
std::int64_t common() {
    static const std::int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
    return all;
}
void restrictTo(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
}
#endif

std::size_t g_used = 0; // a test's choice

/// Better sets have lower bits.
std::int64_t targetAt(std::size_t index) {
    std::int64_t targets = common();
    for (; index > 0; --index)
        targets &= targets - 1;
    return targets & -targets;
}

} // namespace

const char* vectorTargetName() {
    return vectorTargetName(g_used);
}

std::size_t vectorTargetCount() {
    std::size_t count = 0;
    for (std::int64_t targets = common(); targets != 0; targets &= targets - 1)
        ++count;
    return count;
}

const char* vectorTargetName(std::size_t index) {
    return hwy::TargetName(targetAt(index));
}

void useVectorTarget(std::size_t index) {
    common(); // asks the processor before the answer is narrowed
    restrictTo(targetAt(index));
    g_used = index;
}

} // namespace shardscope::engine::kernels
