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
    for (std::int32_t i = 0; i < c.rows(); ++i)
        for (std::size_t table = 0; table < op.rowReads.size(); ++table) {
            const base::TensorId id = op.rowReads[table];
            if (c.step > 0 && m_run.plan.rowsResident[id.index()])
                continue;
            const model::TensorInfo& t = m_run.plan.card->tensor(id);
            const std::int64_t row =
                table == 0 ? m_run.inputs[static_cast<std::size_t>(i)] : c.position + i % c.tokens;
            const auto asked = Throttle::Clock::now();
            fail(m_rows.read(table, t.offset + t.bytesPerRow() * row, out, t.bytesPerRow()));
            m_rowThrottle.deliver(asked, t.bytesPerRow(), nullptr);
            out += t.bytesPerRow().value;
        }
}

void RunExecutor::compute(base::OpId id, const OpContext& c) {
    if (m_io.failed())
        return fail(m_io.error());
    if (c.pass == model::PassKind::Encode || c.pass == model::PassKind::Cross) {
        if (id.value == 0) { // a window begins: so does its prompt
            if (c.sequence == 0)
                m_run.inputs.clear();
            m_run.inputs.insert(m_run.inputs.end(), m_run.prompt.begin(), m_run.prompt.end());
        }
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

void RunExecutor::settled(const OpContext&) {
    m_run.language = m_run.vote.result();
    // Without a number for any language the prompt keeps the one that it has.
    if (!m_run.language)
        return;
    const tokenizer::Token id = m_run.vocabulary.special().firstLanguage + m_run.language->id;
    m_run.prompt[tokenizer::kPromptLanguage] = id;
    for (std::size_t at = 0; at < m_run.inputs.size(); at += m_run.prompt.size())
        m_run.inputs[at + tokenizer::kPromptLanguage] = id;
}

void RunExecutor::nextTokens(
    const OpContext& c, std::span<std::uint32_t> tokens, std::span<std::uint8_t> goOn) {
    const bool hasRoom = static_cast<std::size_t>(c.position + c.tokens) < m_run.textPositions;
    m_run.inputs.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        TokenPick& pick = m_run.picks[static_cast<std::size_t>(c.active[i])];
        const tokenizer::Token token = pick.finish();
        tokens[i] = static_cast<std::uint32_t>(token);
        goOn[i] = hasRoom && !pick.isOver();
        if (goOn[i] != 0)
            m_run.inputs.push_back(token);
    }
}

std::int32_t RunExecutor::nextBeams(const OpContext& c, std::int32_t place) {
    if (place == c.active.front())
        m_run.inputs.clear();
    BeamSearch& search = m_run.searches[static_cast<std::size_t>(place)];
    const std::int32_t beams = search.finishStep();
    for (std::size_t beam = 0; beam < static_cast<std::size_t>(beams); ++beam)
        m_run.inputs.push_back(search.lastToken(beam));
    return beams;
}

} // namespace shardscope::engine
