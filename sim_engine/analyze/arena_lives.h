// SPDX-License-Identifier: GPL-3.0-or-later
// Who held which bytes of the arena, from when to when: a rectangle for every Load..Evict and
// Alloc..Free.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim_engine/analyze/min_max_pyramid.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/event.h"
#include "sim_engine/trace/legend.h"

namespace shardscope::analyze {

enum class LifeKind : std::uint8_t { Weights, Buffer };

/// One life in the arena. Times in ns from the begin of the run, offset and size in bytes.
struct Life {
    static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

    LifeKind kind = LifeKind::Buffer;
    model::Region region = model::Region::Activations;
    plan::Reason loadReason = plan::Reason::Streamed;  ///< of weights
    plan::Reason evictReason = plan::Reason::Streamed; ///< of weights that were evicted
    std::uint32_t id = 0;                              ///< shard or buffer
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::int64_t begin = 0;
    std::int64_t end = kOpen;

    bool isOpen() const { return end == kOpen; }
    bool holds(base::Nanos t) const { return begin <= t.value && t.value < end; }
};

/// A rectangle to draw: one life, or `count` of them that are too short to be told apart.
struct LifeMark {
    std::uint32_t first = 0; ///< index into lives()
    std::uint32_t count = 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t offset = 0;
    std::int64_t minBytes = 0;
    std::int64_t maxBytes = 0;
    std::int64_t minDuration = 0;
    std::int64_t maxDuration = 0;
};

/// A piece of the arena at a moment.
struct LayoutSegment {
    static constexpr std::uint32_t kFree = 0xFFFFFFFFu;
    std::uint32_t life = kFree; ///< index into lives(), or kFree
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    bool isFree() const { return life == kFree; }
};

/// Thread-compatible.
class ArenaLives {
public:
    void clear();
    /// Load, Evict, Alloc and Free; others are ignored.
    void add(const trace::Event& event, const trace::Legend& legend);

    const std::vector<Life>& lives() const { return m_lives; }
    /// End of the highest life so far.
    base::Bytes top() const { return base::Bytes(m_top); }

    /// What to draw of [begin, end): lives shorter than `shortest` are merged with their
    /// neighbours at the same offset, in chunks whose borders do not depend on `begin`. Open lives
    /// end at `now`.
    std::vector<LifeMark>
    marks(base::Nanos begin, base::Nanos end, base::Nanos shortest, base::Nanos now) const;

    /// The arena at `t` in the order of offsets, with the free pieces between; it is `arena` large,
    /// or as large as what lies in it.
    std::vector<LayoutSegment> layoutAt(base::Nanos t, base::Bytes arena) const;

    /// The life of a shard or buffer that holds at `t`; else the last one before, else the first.
    std::optional<std::uint32_t> lifeOf(LifeKind kind, std::uint32_t id, base::Nanos t) const;
    /// All lives of a shard or buffer in the order of time; null where there are none.
    const std::vector<std::uint32_t>* livesOf(LifeKind kind, std::uint32_t id) const;
    /// The life at an offset and a moment.
    std::optional<std::uint32_t> lifeAt(base::Bytes offset, base::Nanos t) const;

private:
    /// Lives that begin at the same offset follow each other in time.
    struct Track {
        std::int64_t offset = 0;
        std::vector<std::uint32_t> lives;
        std::vector<std::int64_t> begins;
        MinMaxPyramid<3> stats; ///< bytes, duration (0 while open), end
    };

    void begin(const trace::Event& event, LifeKind kind, model::Region region);
    void finish(const trace::Event& event, LifeKind kind);
    void trackMarks(
        const Track& track, std::int64_t begin, std::int64_t end, std::int64_t shortest,
        std::int64_t now, std::vector<LifeMark>& out) const;
    void chunkMarks(
        const Track& track, std::size_t first, std::size_t last, std::int64_t shortest,
        std::int64_t now, std::vector<LifeMark>& out) const;
    LifeMark markOf(std::uint32_t life, std::int64_t now) const;
    std::size_t firstReaching(const Track& track, std::int64_t t) const;

    std::vector<Life> m_lives;
    std::vector<Track> m_tracks;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> m_placeOf; ///< life -> track, index in it
    std::unordered_map<std::int64_t, std::uint32_t> m_trackOf;      ///< by offset
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> m_byOwner;
    std::int64_t m_top = 0;
};

/// Name of the shard or buffer that lived.
std::string_view lifeName(const Life& life, const trace::Legend& legend);

} // namespace shardscope::analyze
