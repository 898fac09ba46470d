// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "device_agent/engine/tokenizer/timestamp_rules.h"
#include "device_agent/engine/tokenizer/vocabulary.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::engine {

/// The part of a vocabulary shard that lies within a range of ids.
struct IdCut {
    std::size_t begin, end; ///< ids

    IdCut(std::size_t first, std::size_t count, tokenizer::TokenRange range);
    bool empty() const { return begin >= end; }
    std::size_t count() const { return end - begin; }
};

struct RankedToken {
    tokenizer::Token id = -1;
    float logit = -std::numeric_limits<float>::infinity();
};

/// The best tokens and log(sum(exp(logit))) of one row of logits that comes in pieces, ascending by
/// id. Values are put into blocks of ids that are the same however the row is cut, and a block is
/// counted when it is complete; so no cut changes a bit. Thread-compatible; allocates nothing.
class LogitRank {
public:
    /// A row begins, of which the best `count` (at most kMostBeams) are wanted.
    void begin(std::size_t count);

    /// The logits of the next `count` ids from `first` on. NaN, -infinity and ids whose bit is set
    /// in `skip` (see kernels::argmax) are left out.
    void take(
        const float* logits, std::size_t count, std::size_t first,
        std::span<const std::uint64_t> skip);

    /// The row is over.
    void finish() { countBlock(); }

    /// Greatest first, lower ids first among equals.
    std::span<const RankedToken> best() const { return std::span(m_best).first(m_found); }
    /// -infinity where nothing was taken.
    double logSum() const;

private:
    static constexpr std::size_t kBlock = 256;

    void countBlock();
    void rankBlock();

    alignas(64) std::array<float, kBlock> m_block{}; ///< -infinity where nothing was taken
    std::size_t m_blockNumber = 0;                   ///< of ids, in blocks
    bool m_hasBlock = false;
    std::array<RankedToken, plan::kMostBeams> m_best{};
    std::size_t m_wanted = 0, m_found = 0;
    float m_most = -std::numeric_limits<float>::infinity();
    double m_sum = 0; ///< of exp(x - m_most)
};

} // namespace shardscope::engine
