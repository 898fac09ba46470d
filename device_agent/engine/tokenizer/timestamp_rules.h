// SPDX-License-Identifier: GPL-3.0-or-later
// Greedy decoding with timestamps: which tokens may come next in a window, and when the next one
// must be a timestamp. The rules are those of OpenAI's decoding.py, in the form that whisper.cpp
// gives them. All work on vocabulary shards that come one after the other; where the vocabulary is
// cut changes no bit of a decision.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::tokenizer {

inline constexpr int kTickMs = 20; ///< from one timestamp token to the next
/// The first timestamp of a window is at most 1.00 s.
inline constexpr int kMostInitialTicks = 50;

/// Tokens [begin, end).
struct TokenRange {
    Token begin = 0;
    Token end = 0;

    bool contains(Token id) const { return id >= begin && id < end; }
    bool operator==(const TokenRange&) const = default;
};

/// What the rules allow next. `text` includes end of text; the suppression mask of the step is
/// taken away from it.
struct AllowedTokens {
    TokenRange text;
    TokenRange timestamps;

    bool operator==(const AllowedTokens&) const = default;
};

/// As much of a window's tokens as the rules look at. Thread-compatible; allocates nothing.
class TimestampHistory {
public:
    explicit TimestampHistory(const Vocabulary& vocabulary)
        : m_special(vocabulary.special()), m_size(vocabulary.size()) {}

    void clear();
    void add(Token id);

    /// Timestamps stand in pairs (the end of one segment, the begin of the next) except before the
    /// end of text, they never go back, and the first token is at most 1.00 s.
    AllowedTokens next() const;

    /// Ticks since the begin of the window at the last timestamp; none before one came. 0.00 s
    /// does not count: it closes no segment.
    std::optional<int> lastTick() const;

private:
    bool isTimestamp(Token id) const { return id >= m_special.firstTimestamp; }

    SpecialTokens m_special;
    Token m_size;
    int m_count = 0; ///< tokens so far, up to 2: what the rules tell apart
    Token m_last = 0, m_beforeLast = 0;
    Token m_lastTime = 0; ///< the last timestamp after 0.00 s; 0: none
};

/// Best token and log(sum(exp)) over the allowed timestamps seen so far. Values are taken one by
/// one in the order of their ids, in double, so shards of any size leave the same state.
class TimestampSum {
public:
    /// The next `count` logits, those of ids `first` on. NaN adds nothing.
    void take(const float* logits, std::size_t count, Token first);

    std::optional<Token> best() const;
    /// -infinity before anything was taken.
    double logSum() const;

private:
    double m_most = -std::numeric_limits<double>::infinity();
    double m_sum = 0; ///< of exp(x - m_most)
    Token m_best = -1;
};

/// A text token with its logit: the best that is allowed.
struct BestText {
    std::optional<Token> id;
    float logit = -std::numeric_limits<float>::infinity();
};

/// The best timestamp where all timestamps together are more probable than the best text token,
/// else that token. None where there is neither.
std::optional<Token> chooseToken(const BestText& text, const TimestampSum& timestamps);

} // namespace shardscope::tokenizer
