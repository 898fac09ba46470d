// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/tokenizer/suppression.h"

#include <bit>
#include <utility>

namespace shardscope::tokenizer {

TokenMask::TokenMask(int tokens)
    : m_tokens(tokens), m_words((static_cast<std::size_t>(tokens) + 63) / 64) {}

void TokenMask::insertRange(Token first, Token last) {
    for (Token id = first; id < last; ++id)
        insert(id);
}

int TokenMask::count() const {
    int n = 0;
    for (const std::uint64_t word : m_words)
        n += std::popcount(word);
    return n;
}

Suppression defaultSuppression(const Vocabulary& vocabulary) {
    TokenMask later(vocabulary.size());
    later.insertRange(vocabulary.special().sot, vocabulary.size());

    TokenMask first = later;
    first.insert(vocabulary.special().eot);
    if (const auto space = vocabulary.find(" "))
        first.insert(*space);
    return {std::move(first), std::move(later)};
}

} // namespace shardscope::tokenizer
