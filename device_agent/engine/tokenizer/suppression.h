// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::tokenizer {

/// A set of tokens, one bit each: token t is bit t % 64 of word t / 64.
class TokenMask {
public:
    explicit TokenMask(int tokens);

    void insert(Token id) { m_words[index(id)] |= bit(id); }
    void insertRange(Token first, Token last); ///< [first, last)
    bool contains(Token id) const { return (m_words[index(id)] & bit(id)) != 0; }
    int count() const;

    int size() const { return m_tokens; }
    const std::vector<std::uint64_t>& words() const { return m_words; }

private:
    static std::size_t index(Token id) { return static_cast<std::size_t>(id) / 64; }
    static std::uint64_t bit(Token id) { return std::uint64_t{1} << (id % 64); }

    int m_tokens = 0;
    std::vector<std::uint64_t> m_words;
};

/// The tokens that greedy decoding without timestamps never picks, as whisper.cpp has it by
/// default.
struct Suppression {
    TokenMask firstStep;  ///< for the first token after the prompt
    TokenMask laterSteps; ///< for every other

    const TokenMask& at(int step) const { return step == 0 ? firstStep : laterSteps; }
};

/// Always: start of transcript, languages, tasks, speaker turn, previous text, no speech, no
/// timestamps, and every timestamp, which is all ids from `sot` on. At the first step also end of
/// text and the single space, so that no window begins with nothing. Punctuation and signs for
/// non-speech sounds are allowed: whisper.cpp bars them only when asked to.
Suppression defaultSuppression(const Vocabulary& vocabulary);

} // namespace shardscope::tokenizer
