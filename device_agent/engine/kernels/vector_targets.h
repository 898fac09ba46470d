// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace shardscope::engine::kernels {

/// The instruction set that the kernels use here: "AVX3" (AVX-512), "AVX2", "SSE4", "NEON",
/// "SCALAR".
const char* vectorTargetName();

/// How many instruction sets this program and this processor have in common; the best is number 0.
std::size_t vectorTargetCount();
const char* vectorTargetName(std::size_t index);

/// Makes the kernels use instruction set `index`, for tests and benchmarks; results of different
/// sets differ in the last bits. Not while a kernel runs.
void useVectorTarget(std::size_t index);

} // namespace shardscope::engine::kernels
