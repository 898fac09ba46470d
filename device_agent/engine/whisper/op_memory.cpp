// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/op_memory.h"

#include <cstdlib>

namespace shardscope::engine {

using base::ShardId;

kernels::WeightType weightType(model::DType type) {
    using kernels::WeightType;
    using model::DType;
    switch (type) {
    case DType::F32:
        return WeightType::F32;
    case DType::F16:
        return WeightType::F16;
    case DType::Q8_0:
        return WeightType::Q8_0;
    case DType::Q4_0:
        return WeightType::Q4_0;
    case DType::Q4_1:
        return WeightType::Q4_1;
    case DType::Q5_0:
        return WeightType::Q5_0;
    case DType::Q5_1:
        return WeightType::Q5_1;
    }
    std::abort(); // a bug: a type without kernels
}

OpMemory::OpMemory(const plan::Plan& plan, const Arena& arena)
    : m_plan(plan), m_arena(arena), m_place(plan.shards.size()) {
    for (const base::BlockId id : plan.blockOfBuffer) {
        if (!id.valid()) {
            m_buffers.emplace_back();
            continue;
        }
        const plan::Block& block = plan.block(id);
        m_buffers.emplace_back(arena.at(block.offset), block.bytes.size());
    }
    for (std::size_t op = 0; op < plan.graph->ops.size(); ++op) {
        m_firstWeight.push_back(m_weights.size());
        const ShardId shard = plan.shardOfOp[op];
        for (const model::WeightUse& use : plan.graph->ops[op].weights) {
            const model::TensorInfo& t = plan.card->tensor(use.tensor);
            m_weights.push_back(placeOf(shard, t.offset + t.bytesPerRow() * use.firstRow));
            m_tables.push_back({use.tensor, use.firstRow, use.rowCount, m_weights.back()});
        }
        for (const base::TensorId tensor : plan.graph->ops[op].rowReads)
            if (shard.valid() && plan.rowsResident[tensor.index()] &&
                plan.shard(shard).key.part == static_cast<std::int32_t>(tensor.value))
                m_tables.push_back(
                    {tensor, 0, plan.card->tensor(tensor).rows(),
                     placeOf(shard, plan.card->tensor(tensor).offset)});
    }
}

OpMemory::Place OpMemory::placeOf(ShardId shard, base::Bytes fileOffset) const {
    for (const plan::Extent& e : m_plan.shard(shard).extents)
        if (fileOffset >= e.fileOffset && fileOffset < e.fileOffset + e.bytes)
            return {shard, (e.place + (fileOffset - e.fileOffset)).value};
    std::abort(); // a bug of the planner: a shard without the weights of its op
}

kernels::WeightView OpMemory::matrix(base::OpId op, std::size_t i) const {
    const model::WeightUse& use = m_plan.graph->op(op).weights[i];
    const model::TensorInfo& t = m_plan.card->tensor(use.tensor);
    // A convolution [out][in][3] is a matrix of out rows.
    const std::int64_t rows = t.shape.size() == 3 ? t.shape[0] : use.rowCount;
    const std::int64_t cols = t.shape.size() == 3 ? t.shape[1] * t.shape[2] : t.rowElements();
    return {
        weight(op, i), weightType(t.dtype), static_cast<std::size_t>(rows),
        static_cast<std::size_t>(cols)};
}

const std::byte* OpMemory::residentRow(base::TensorId table, std::int64_t row) const {
    for (const TablePart& part : m_tables)
        if (part.table == table && row >= part.firstRow && row < part.firstRow + part.rowCount)
            return m_place[part.place.shard.index()] + part.place.offset +
                   (row - part.firstRow) * m_plan.card->tensor(table).bytesPerRow().value;
    std::abort(); // a bug: the plan said that all rows are resident
}

} // namespace shardscope::engine
