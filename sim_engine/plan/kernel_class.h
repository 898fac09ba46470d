// SPDX-License-Identifier: GPL-3.0-or-later
// Which kernel does an op, and so which measured rate it is timed with. Finer than model::OpKind: a
// kernel has different rates for few and many rows, for shallow and deep products, for the
// attention of the encoder and that of one token.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/model/dtype.h"
#include "sim_engine/model/kv_type.h"

namespace shardscope::plan {

struct Plan;

/// Append only: the names stand in profiles.
enum class KernelClass : std::uint8_t {
    Mel,
    Conv,            ///< a convolution as a product over many rows
    MatMul,          ///< product of many rows, no deeper than kDeepProduct
    DeepMatMul,      ///< deeper: the sums wait between parts of the depth
    MatVec,          ///< product of one row
    RowsMatVec,      ///< product of up to 8 rows: prefill, batches
    EncodeAttention, ///< all positions to all positions; f32
    DecodeAttention, ///< one row to the positions of a cache; the dtype is that of the cache
    SharedAttention, ///< one row to the encoder output, with absorbed projections
    Vector,
    RowGather,
};
inline constexpr std::size_t kKernelClassCount = 11;
inline constexpr std::size_t kDTypeCount = 7;

/// Depth (columns of the weights) above which a product of many rows is DeepMatMul.
inline constexpr std::int64_t kDeepProduct = 640;

/// "mel", "conv", "matmul", "matmul_deep", "matvec", "matvec_rows", "attention_encode", ...
std::string_view kernelClassName(KernelClass kernel);
std::optional<KernelClass> kernelClassByName(std::string_view name);

/// The element type under which a cache of keys and values is looked up: q8 as q8_0, q4 as q4_0.
model::DType dtypeOf(model::KvType type);

struct KernelKey {
    KernelClass kernel = KernelClass::Vector;
    model::DType dtype = model::DType::F32;

    bool operator==(const KernelKey&) const = default;
};

/// The kernel of each op, by OpId. Products of decoding are MatVec here: with more than one row the
/// executor takes RowsMatVec.
std::vector<KernelKey> kernelsOf(const Plan& plan);

} // namespace shardscope::plan
