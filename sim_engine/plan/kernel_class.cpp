// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/kernel_class.h"

#include <algorithm>
#include <array>

#include "sim_engine/plan/plan.h"

namespace shardscope::plan {
namespace {

using model::DType;
using model::OpKind;

constexpr std::array<std::string_view, kKernelClassCount> kNames{
    "mel",
    "conv",
    "matmul",
    "matmul_deep",
    "matvec",
    "matvec_rows",
    "attention_encode",
    "attention_decode",
    "attention_shared",
    "vector",
    "row_gather"};

/// The largest of an op's weights: its matrix.
const model::TensorInfo* matrixOf(const Plan& plan, const model::Op& op) {
    const model::TensorInfo* matrix = nullptr;
    for (const model::WeightUse& use : op.weights) {
        const model::TensorInfo& t = plan.card->tensor(use.tensor);
        if (t.shape.size() >= 2 && (!matrix || t.bytes > matrix->bytes))
            matrix = &t;
    }
    return matrix;
}

KernelKey productOfRows(const Plan& plan, const model::Op& op) {
    const model::TensorInfo* matrix = matrixOf(plan, op);
    if (matrix && matrix->shape.size() == 3)
        return {KernelClass::Conv, op.dtype};
    const bool isDeep = matrix && matrix->rowElements() > kDeepProduct;
    return {isDeep ? KernelClass::DeepMatMul : KernelClass::MatMul, op.dtype};
}

/// Of one row: the cache that it reads tells the element type.
KernelKey tokenAttention(const Plan& plan, const model::Op& op) {
    if (!op.weights.empty())
        return {KernelClass::SharedAttention, op.dtype};
    for (const base::BufferId id : op.reads) {
        const model::Region region = plan.graph->buffer(id).region;
        if (region == model::Region::SelfKv)
            return {KernelClass::DecodeAttention, dtypeOf(plan.config.kv)};
        if (region == model::Region::CrossKv)
            return {KernelClass::DecodeAttention, dtypeOf(plan.config.crossKv)};
    }
    return {KernelClass::DecodeAttention, DType::F32};
}

KernelKey kernelOf(const Plan& plan, const model::Op& op, bool decodes) {
    switch (op.kind) {
    case OpKind::Mel:
        return {KernelClass::Mel, DType::F32};
    case OpKind::MatMul:
        return productOfRows(plan, op);
    case OpKind::MatVec:
        return {KernelClass::MatVec, op.dtype};
    case OpKind::Attention:
        return decodes ? tokenAttention(plan, op)
                       : KernelKey{KernelClass::EncodeAttention, DType::F32};
    case OpKind::Vector:
        return {KernelClass::Vector, DType::F32};
    case OpKind::RowGather:
        break;
    }
    return {
        KernelClass::RowGather,
        op.rowReads.empty() ? DType::F32 : plan.card->tensor(op.rowReads.front()).dtype};
}

} // namespace

std::string_view kernelClassName(KernelClass kernel) {
    return kNames[static_cast<std::size_t>(kernel)];
}

std::optional<KernelClass> kernelClassByName(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end())
        return std::nullopt;
    return static_cast<KernelClass>(found - kNames.begin());
}

DType dtypeOf(model::KvType type) {
    switch (type) {
    case model::KvType::F16:
        return DType::F16;
    case model::KvType::Q8:
        return DType::Q8_0;
    case model::KvType::Q4:
        return DType::Q4_0;
    case model::KvType::F32:
    case model::KvType::Shared:
        break;
    }
    return DType::F32;
}

std::vector<KernelKey> kernelsOf(const Plan& plan) {
    std::vector<bool> decodes(plan.graph->ops.size());
    for (const model::PassKind kind : {model::PassKind::Prefill, model::PassKind::Decode})
        for (const base::OpId op : plan.graph->pass(kind).ops)
            decodes[op.index()] = true;
    std::vector<KernelKey> keys;
    keys.reserve(plan.graph->ops.size());
    for (std::size_t i = 0; i < plan.graph->ops.size(); ++i)
        keys.push_back(kernelOf(plan, plan.graph->ops[i], decodes[i]));
    return keys;
}

} // namespace shardscope::plan
