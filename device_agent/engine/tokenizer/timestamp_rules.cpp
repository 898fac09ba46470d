// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/tokenizer/timestamp_rules.h"

#include <algorithm>
#include <cmath>

namespace shardscope::tokenizer {

void TimestampHistory::clear() {
    m_count = 0;
    m_lastTime = 0;
}

void TimestampHistory::add(Token id) {
    m_beforeLast = m_last;
    m_last = id;
    m_count = std::min(m_count + 1, 2);
    if (id > m_special.firstTimestamp)
        m_lastTime = id;
}

AllowedTokens TimestampHistory::next() const {
    AllowedTokens allowed{{0, m_special.eot + 1}, {m_special.firstTimestamp, m_size}};
    if (m_count == 0) {
        const Token latest = m_special.firstTimestamp + kMostInitialTicks;
        allowed.timestamps.end = std::min(allowed.timestamps.end, latest + 1);
        return allowed;
    }
    if (m_lastTime != 0)
        allowed.timestamps.begin = m_lastTime;
    if (isTimestamp(m_last)) {
        // A window that begins with a timestamp needs no second one: nothing ends there.
        const bool paired = m_count < 2 || isTimestamp(m_beforeLast);
        if (paired)
            allowed.timestamps.begin = allowed.timestamps.end;
        else
            allowed.text.begin = m_special.eot;
    }
    return allowed;
}

std::optional<int> TimestampHistory::lastTick() const {
    if (m_lastTime == 0)
        return std::nullopt;
    return m_lastTime - m_special.firstTimestamp;
}

void TimestampSum::take(const float* logits, std::size_t count, Token first) {
    for (std::size_t i = 0; i < count; ++i) {
        const double x = logits[i];
        if (std::isnan(x))
            continue;
        if (m_best < 0 || x > m_most) {
            if (m_best >= 0)
                m_sum *= std::exp(m_most - x);
            m_sum += 1;
            m_most = x;
            m_best = first + static_cast<Token>(i);
        } else {
            m_sum += x == m_most ? 1 : std::exp(x - m_most);
        }
    }
}

std::optional<Token> TimestampSum::best() const {
    if (m_best < 0)
        return std::nullopt;
    return m_best;
}

double TimestampSum::logSum() const {
    return m_best < 0 ? m_most : m_most + std::log(m_sum);
}

std::optional<Token> chooseToken(const BestText& text, const TimestampSum& timestamps) {
    const auto time = timestamps.best();
    // No timestamp alone is above their sum: where the sum is not above the text, none of them is.
    if (time && (!text.id || timestamps.logSum() > double{text.logit}))
        return time;
    return text.id;
}

} // namespace shardscope::tokenizer
