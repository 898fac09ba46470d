// SPDX-License-Identifier: GPL-3.0-or-later
// What each token took, and on what. With a beam search a bar is a step for all beams.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/trace/event.h"

namespace shardscope::analyze {

/// The token of a step that no token of the text came from: beams that lost were longer. Until its
/// window ends, every step of a beam search.
inline constexpr std::uint32_t kNoToken = 0xFFFFFFFFu;

/// One token, from the end of the one before (from the begin of prefill for the first of a window).
/// Times in ns; compute + read + stall + other = end - begin.
struct TokenBar {
    std::uint32_t token = 0;  ///< its id in the vocabulary, or kNoToken
    std::uint32_t number = 0; ///< in its window
    std::uint32_t window = 0;
    bool first = false; ///< of its window: its bar is prefill
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t compute = 0;
    std::int64_t read = 0;  ///< read by the computing thread itself: rows of a table
    std::int64_t stall = 0; ///< waited for a shard
    std::int64_t other = 0;

    std::int64_t total() const { return end - begin; }
};

/// A bar to draw: one token, or `count` of them in less width than one can see.
struct TokenMark {
    std::uint32_t first = 0; ///< index of the first bar
    std::uint32_t count = 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t minTotal = 0;
    std::uint32_t slowest = 0; ///< index of the bar that is drawn for all
};

/// Nearest-rank percentiles of the time a token took, ns.
struct Percentiles {
    std::size_t count = 0;
    std::int64_t p50 = 0;
    std::int64_t p90 = 0;
    std::int64_t p99 = 0;
    std::int64_t max = 0;

    bool operator==(const Percentiles&) const = default;
};

/// Thread-compatible.
class TokenBars {
public:
    void clear();
    void add(const trace::Event& event);

    const std::vector<TokenBar>& bars() const { return m_bars; }
    /// The bar that covers t; none between the windows.
    std::optional<std::uint32_t> barAt(base::Nanos t) const;
    /// Over the decode steps (no prefill) that end within [begin, end].
    Percentiles percentiles(base::Nanos begin, base::Nanos end) const;
    /// What to draw of [begin, end); bars shorter than `shortest` are merged.
    std::vector<TokenMark> marks(base::Nanos begin, base::Nanos end, base::Nanos shortest) const;

private:
    std::size_t firstEndingAfter(std::int64_t t) const;
    void addCompute(const trace::Event& event);
    void closeBar(const trace::Event& event, std::uint32_t token);
    void nameBar(const trace::Event& token);

    std::vector<TokenBar> m_bars;
    TokenBar m_open;
    bool m_decoding = false;
    bool m_searches = false;         ///< steps close bars, and tokens name them
    std::int64_t m_rowReadBegin = 0; ///< of the last read by the computing thread
    std::int64_t m_rowReadTime = 0;  ///< reads that no compute span has enclosed yet
};

} // namespace shardscope::analyze
