// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/logit_rank.h"

#include <algorithm>
#include <cmath>

#include "device_agent/engine/kernels/elementwise.h"

namespace shardscope::engine {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

} // namespace

IdCut::IdCut(std::size_t first, std::size_t count, tokenizer::TokenRange range)
    : begin(std::max(first, static_cast<std::size_t>(range.begin))),
      end(std::min(first + count, static_cast<std::size_t>(range.end))) {}

void LogitRank::begin(std::size_t count) {
    m_wanted = std::min(count, m_best.size());
    m_found = 0;
    m_hasBlock = false;
    m_most = kNothing;
    m_sum = 0;
}

void LogitRank::take(
    const float* logits, std::size_t count, std::size_t first,
    std::span<const std::uint64_t> skip) {
    while (count > 0) {
        const std::size_t block = first / kBlock, at = first % kBlock;
        if (!m_hasBlock || m_blockNumber != block) {
            countBlock();
            m_block.fill(kNothing);
            m_blockNumber = block;
            m_hasBlock = true;
        }
        const std::size_t n = std::min(count, kBlock - at);
        for (std::size_t i = 0; i < n; ++i)
            m_block[at + i] = logits[i] > kNothing ? logits[i] : kNothing; // no NaN
        for (std::size_t word = first / 64; word <= (first + n - 1) / 64; ++word) {
            std::uint64_t bits = word < skip.size() ? skip[word] : 0;
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t id = word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
                if (id >= first && id < first + n)
                    m_block[id % kBlock] = kNothing;
            }
        }
        logits += n;
        first += n;
        count -= n;
    }
}

void LogitRank::countBlock() {
    if (!m_hasBlock)
        return;
    m_hasBlock = false;
    const float most = kernels::maxOf(m_block.data(), kBlock);
    if (most == kNothing)
        return;
    if (m_found < m_wanted || most > m_best[m_found - 1].logit)
        rankBlock();
    if (most > m_most) {
        m_sum *= std::exp(double{m_most} - double{most});
        m_most = most;
    }
    m_sum += double{kernels::sumExp(m_block.data(), kBlock, m_most)};
}

/// Ids come in ascending order, so one that is only as good as the last of the best is not better.
void LogitRank::rankBlock() {
    for (std::size_t i = 0; i < kBlock && m_wanted > 0; ++i) {
        const float x = m_block[i];
        if (x == kNothing || (m_found == m_wanted && !(x > m_best[m_found - 1].logit)))
            continue;
        std::size_t at = m_found < m_wanted ? m_found++ : m_found - 1;
        for (; at > 0 && x > m_best[at - 1].logit; --at)
            m_best[at] = m_best[at - 1];
        m_best[at] = {static_cast<tokenizer::Token>(m_blockNumber * kBlock + i), x};
    }
}

double LogitRank::logSum() const {
    return std::isinf(m_most) ? double{m_most} : double{m_most} + std::log(m_sum);
}

} // namespace shardscope::engine
