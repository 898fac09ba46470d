// SPDX-License-Identifier: GPL-3.0-or-later
// One lane of spans of time, and what to draw of it: spans too short to be told apart are merged,
// at a cost that depends on the pixels and not on the spans.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"

namespace shardscope::analyze {

/// A span of work. Times in ns from the begin of the run.
struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t bytes = 0; ///< of a read
    std::uint32_t id = 0;   ///< op or shard
    std::uint8_t kind = 0;  ///< model::OpKind of compute spans, else 0
    std::uint8_t pass = 0;  ///< model::PassKind of compute spans, else 0

    std::int64_t duration() const { return end - begin; }
};

/// One span, or `count` of them that begin within a few pixels.
struct SpanMark {
    std::uint32_t first = 0; ///< index of the first span
    std::uint32_t count = 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t busy = 0; ///< sum of the durations
    std::int64_t minDuration = 0;
    std::int64_t maxDuration = 0;
    std::uint8_t kind = 0; ///< the kind that took most of the time

    bool merged() const { return count > 1; }
};

/// Spans sorted by begin. Thread-compatible.
class SpanLane {
public:
    void clear();
    /// Spans that begin a little before the last one are put where they belong.
    void add(const Span& span);

    const std::vector<Span>& spans() const { return m_spans; }
    /// Sum of the durations of the spans of one kind.
    std::int64_t busyOf(std::uint8_t kind) const {
        return kind < m_busyByKind.size() ? m_busyByKind[kind] : 0;
    }
    /// How much of [begin, end) the spans fill, where they do not overlap.
    base::Nanos busyWithin(base::Nanos begin, base::Nanos end) const;

    /// What to draw of [begin, end): spans shorter than `shortest` are merged in chunks whose
    /// borders are powers of two. O(end - begin over shortest, log n).
    std::vector<SpanMark> marks(base::Nanos begin, base::Nanos end, base::Nanos shortest) const;

    /// The span at `t`, or the nearest that begins or ends within `near` of it.
    std::optional<std::uint32_t> spanAt(base::Nanos t, base::Nanos near) const;
    /// Index of the first span that begins at or after t.
    std::size_t firstFrom(base::Nanos t) const;

private:
    /// What is known of `kBase` spans (and of four blocks, and so on) together.
    struct Block {
        std::int64_t begin = 0, end = 0, lastBegin = 0, busy = 0;
        std::int64_t minDuration = 0, maxDuration = 0;
        std::uint32_t count = 0;
        std::array<std::int64_t, model::kOpKindCount> busyByKind{};

        void include(const Span& span);
        void include(const Block& block);
    };
    class Merger;
    static constexpr std::size_t kBase = 16;
    static constexpr std::size_t kFanOut = 4;

    void append(const Span& span);
    void closeBlock(std::size_t level);
    void truncate(std::size_t count);

    std::vector<Span> m_spans;
    std::vector<std::vector<Block>> m_levels;
    std::array<std::int64_t, model::kOpKindCount> m_busyByKind{};
};

} // namespace shardscope::analyze
