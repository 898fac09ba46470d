// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/run_executor.h"

namespace shardscope::engine {

using plan::OpContext;

void RunExecutor::evict(base::ShardId shard, const plan::Block& block) {
    // A read ahead that nobody waited for may still be under way.
    m_io.await(shard);
    fail(m_loader.release(m_run.plan.shard(shard), m_run.memory.place(shard, block)));
}

void RunExecutor::readRows(const model::Op& op, const OpContext& c) {
    std::byte* out = m_run.memory.bytes(model::whisperBuffer(model::WhisperBuffer::Rows)).data();
    Throttle throttle(m_run.plan.config.emulateRead);
    for (std::int32_t i = 0; i < c.tokens; ++i)
        for (std::size_t table = 0; table < op.rowReads.size(); ++table) {
            const base::TensorId id = op.rowReads[table];
            if (c.step > 0 && m_run.plan.rowsResident[id.index()])
                continue;
            const model::TensorInfo& t = m_run.plan.card->tensor(id);
            const std::int64_t row =
                table == 0 ? m_run.inputs[static_cast<std::size_t>(i)] : c.position + i;
            throttle.begin();
            fail(m_file.read(t.offset + t.bytesPerRow() * row, out, t.bytesPerRow()));
            throttle.end(t.bytesPerRow());
            out += t.bytesPerRow().value;
        }
}

void RunExecutor::compute(base::OpId id, const OpContext& c) {
    if (m_io.failed())
        return fail(m_io.error());
    if (c.pass == model::PassKind::Encode || c.pass == model::PassKind::Cross) {
        if (id.value == 0)
            m_run.inputs.assign(m_run.prompt.begin(), m_run.prompt.end());
        return computeEncodeOp(m_run, id, c);
    }
    computeDecodeOp(m_run, id, c);
}

void RunExecutor::drain() {
    if (goOn())
        m_io.drain();
    else
        m_io.stop();
    if (m_io.failed())
        fail(m_io.error());
}

bool RunExecutor::nextToken(const OpContext& c, std::uint32_t& token) {
    const auto eot = static_cast<std::size_t>(m_run.vocabulary.special().eot);
    // Without a best one every logit was NaN or suppressed: the text ends here.
    const std::size_t best = m_run.best.index == kernels::Best::kNoIndex ? eot : m_run.best.index;
    token = static_cast<std::uint32_t>(best);
    m_run.inputs.assign(1, static_cast<tokenizer::Token>(best));
    const auto next = static_cast<std::size_t>(c.position + c.tokens);
    if (next >= m_run.textPositions)
        return false;
    return m_run.request.rawGreedy || best != eot;
}

} // namespace shardscope::engine
