// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/tokenizer/suppression.h"
#include "device_agent/engine/tokenizer/timestamp_rules.h"
#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::engine {

/// How the next token is chosen; always the best one that is allowed.
enum class Picking : std::uint8_t {
    Raw,        ///< everything is allowed, and nothing ends a window
    Text,       ///< text alone
    Timestamps, ///< text and timestamps, by the rules for them
};

/// Whether a text that ends with `token`, already in its history, is over: by end of text, or by a
/// timestamp within 100 ms of the end of the recording, `frames` frames of 10 ms from its begin.
bool isTextOver(
    Picking picking, tokenizer::Token token, tokenizer::Token eot,
    const tokenizer::TimestampHistory& history, std::int64_t frames);

/// Chooses the tokens of one sequence while its logits come, vocabulary shard after shard. How the
/// vocabulary is cut changes no choice. Thread-compatible; allocates nothing.
class TokenPick {
public:
    /// Both must outlive it.
    TokenPick(
        const tokenizer::Vocabulary& vocabulary, const tokenizer::Suppression& suppression,
        Picking picking)
        : m_vocabulary(vocabulary), m_suppression(suppression), m_picking(picking),
          m_history(vocabulary) {}

    /// A window begins that has `frames` frames of 10 ms of the recording left.
    void beginWindow(std::int64_t frames);

    /// The logits of token `step` of the window follow.
    void beginStep(std::int32_t step);

    /// The logits of ids `first` to `first + count - 1`.
    void take(const float* logits, std::size_t count, std::size_t first);

    /// The token of this step, end of text where nothing was allowed, and from now on a part of the
    /// window.
    tokenizer::Token finish();

    /// The window's text is over: end of text, or a timestamp within 100 ms of the recording's end.
    bool isOver() const { return m_over; }

private:
    void takeText(const float* logits, std::size_t count, std::size_t first);
    void takeTimestamps(const float* logits, std::size_t count, std::size_t first);

    const tokenizer::Vocabulary& m_vocabulary;
    const tokenizer::Suppression& m_suppression;
    Picking m_picking;
    std::int64_t m_frames = 0;
    std::int32_t m_step = 0;
    bool m_over = false;
    tokenizer::TimestampHistory m_history;
    tokenizer::AllowedTokens m_allowed;
    kernels::Best m_best; ///< of all but timestamps
    tokenizer::TimestampSum m_timestamps;
};

} // namespace shardscope::engine
