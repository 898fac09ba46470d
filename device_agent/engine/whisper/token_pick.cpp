// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/token_pick.h"

#include <algorithm>

namespace shardscope::engine {
namespace {

using tokenizer::Token;

/// The part of a shard that lies within a range of ids.
struct Cut {
    std::size_t begin, end; ///< ids

    Cut(std::size_t first, std::size_t count, tokenizer::TokenRange range)
        : begin(std::max(first, static_cast<std::size_t>(range.begin))),
          end(std::min(first + count, static_cast<std::size_t>(range.end))) {}
    bool empty() const { return begin >= end; }
};

} // namespace

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
    if (const Cut cut(first, count, m_allowed.text); !cut.empty())
        m_best = kernels::argmax(
            logits + (cut.begin - first), cut.end - cut.begin, cut.begin,
            m_suppression.at(m_step).words(), m_best);
}

void TokenPick::takeTimestamps(const float* logits, std::size_t count, std::size_t first) {
    if (const Cut cut(first, count, m_allowed.timestamps); !cut.empty())
        m_timestamps.take(
            logits + (cut.begin - first), cut.end - cut.begin, static_cast<Token>(cut.begin));
}

Token TokenPick::finish() {
    constexpr std::int64_t kFramesPerTick = 2, kLastFrames = 10;
    tokenizer::BestText text;
    if (m_best.index != kernels::Best::kNoIndex)
        text = {static_cast<Token>(m_best.index), m_best.value};
    const Token eot = m_vocabulary.special().eot;
    // Without any every logit was NaN or suppressed: the text ends here.
    const Token token = tokenizer::chooseToken(text, m_timestamps).value_or(eot);
    m_history.add(token);
    m_over = m_picking != Picking::Raw && token == eot;
    if (m_picking == Picking::Timestamps)
        if (const auto tick = m_history.lastTick())
            m_over = m_over || *tick * kFramesPerTick + kLastFrames >= m_frames;
    return token;
}

} // namespace shardscope::engine
