// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "device_agent/engine/kernels/weight_view.h"
#include "device_agent/engine/weights/arena.h"
#include "sim_engine/model/whisper_family.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

/// Where ops find their weights and buffers: arena offsets resolved once, so that an op costs a few
/// additions. Thread-compatible.
class OpMemory {
public:
    OpMemory(const plan::Plan& plan, const Arena& arena);

    /// The shard now stands at this block.
    std::byte* place(base::ShardId shard, const plan::Block& block) {
        return m_place[shard.index()] = m_arena.at(block.offset);
    }

    float* floats(model::WhisperBuffer buffer) const {
        return reinterpret_cast<float*>(bytes(model::whisperBuffer(buffer)).data());
    }
    std::span<std::byte> bytes(base::BufferId buffer) const { return m_buffers[buffer.index()]; }

    /// First byte of the i-th weight of an op; its shard is loaded.
    const std::byte* weight(base::OpId op, std::size_t i) const {
        const Place& p = m_weights[m_firstWeight[op.index()] + i];
        return m_place[p.shard.index()] + p.offset;
    }
    /// The i-th weight of an op as a matrix.
    kernels::WeightView matrix(base::OpId op, std::size_t i) const;

    /// A row of a table whose rows are resident.
    const std::byte* residentRow(base::TensorId table, std::int64_t row) const;

private:
    struct Place {
        base::ShardId shard;
        std::int64_t offset = 0; ///< from the begin of the shard's block
    };
    struct TablePart {
        base::TensorId table;
        std::int64_t firstRow = 0, rowCount = 0;
        Place place;
    };
    Place placeOf(base::ShardId shard, base::Bytes fileOffset) const;

    const plan::Plan& m_plan;
    const Arena& m_arena;
    std::vector<std::byte*> m_place; ///< by ShardId
    std::vector<std::span<std::byte>> m_buffers;
    std::vector<Place> m_weights;
    std::vector<std::size_t> m_firstWeight; ///< by OpId
    std::vector<TablePart> m_tables;
};

/// The kernels' name for a storage type.
kernels::WeightType weightType(model::DType type);

} // namespace shardscope::engine
