// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/token_pick.h"

#include "device_agent/engine/whisper/logit_rank.h"

namespace shardscope::engine {

using tokenizer::Token;

bool isTextOver(
    Picking picking, Token token, Token eot, const tokenizer::TimestampHistory& history,
    std::int64_t frames) {
    constexpr std::int64_t kFramesPerTick = 2, kLastFrames = 10;
    if (picking == Picking::Raw)
        return false;
    if (token == eot)
        return true;
    const auto tick = history.lastTick();
    return picking == Picking::Timestamps && tick && *tick * kFramesPerTick + kLastFrames >= frames;
}

void TokenPick::beginWindow(std::int64_t frames) {
    m_frames = frames;
    m_over = false;
    m_history.clear();
}

void TokenPick::beginStep(std::int32_t step) {
    m_step = step;
    m_best = {};
    m_timestamps = {};
    m_allowed = m_history.next();
}

void TokenPick::take(const float* logits, std::size_t count, std::size_t first) {
    switch (m_picking) {
    case Picking::Raw:
        m_best = kernels::argmax(logits, count, first, {}, m_best);
        break;
    case Picking::Text:
        m_best = kernels::argmax(logits, count, first, m_suppression.at(m_step).words(), m_best);
        break;
    case Picking::Timestamps:
        takeText(logits, count, first);
        takeTimestamps(logits, count, first);
        break;
    }
}

void TokenPick::takeText(const float* logits, std::size_t count, std::size_t first) {
    if (const IdCut cut(first, count, m_allowed.text); !cut.empty())
        m_best = kernels::argmax(
            logits + (cut.begin - first), cut.count(), cut.begin, m_suppression.at(m_step).words(),
            m_best);
}

void TokenPick::takeTimestamps(const float* logits, std::size_t count, std::size_t first) {
    if (const IdCut cut(first, count, m_allowed.timestamps); !cut.empty())
        m_timestamps.take(logits + (cut.begin - first), cut.count(), static_cast<Token>(cut.begin));
}

Token TokenPick::finish() {
    tokenizer::BestText text;
    if (m_best.index != kernels::Best::kNoIndex)
        text = {static_cast<Token>(m_best.index), m_best.value};
    const Token eot = m_vocabulary.special().eot;
    // Without any every logit was NaN or suppressed: the text ends here.
    const Token token = tokenizer::chooseToken(text, m_timestamps).value_or(eot);
    m_history.add(token);
    m_over = isTextOver(m_picking, token, eot, m_history, m_frames);
    return token;
}

} // namespace shardscope::engine
