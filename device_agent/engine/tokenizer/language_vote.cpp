// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/tokenizer/language_vote.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardscope::tokenizer {

LanguageVote::LanguageVote(const Vocabulary& vocabulary)
    : m_first(vocabulary.special().firstLanguage), m_end(m_first + vocabulary.languageCount()) {
    m_logits.fill(-std::numeric_limits<float>::infinity());
}

void LanguageVote::take(const float* logits, std::size_t count, Token first) {
    const Token begin = std::max(first, m_first);
    const Token end = std::min(first + static_cast<Token>(count), m_end);
    for (Token id = begin; id < end; ++id)
        if (const float x = logits[id - first]; !std::isnan(x))
            m_logits[static_cast<std::size_t>(id - m_first)] = x;
}

std::optional<DetectedLanguage> LanguageVote::result() const {
    const auto best = std::max_element(m_logits.begin(), m_logits.end());
    if (!std::isfinite(*best))
        return std::nullopt;
    double sum = 0;
    for (const float x : m_logits)
        sum += std::exp(double{x} - double{*best});
    return DetectedLanguage{static_cast<int>(best - m_logits.begin()), 1 / sum};
}

} // namespace shardscope::tokenizer
