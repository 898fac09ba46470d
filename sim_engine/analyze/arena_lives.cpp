// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/arena_lives.h"

#include <algorithm>

#include "sim_engine/analyze/chunk.h"

namespace shardscope::analyze {

using base::Bytes;
using base::Nanos;
using model::Region;
using trace::EventKind;

namespace {

std::uint64_t ownerKey(LifeKind kind, std::uint32_t id) {
    return static_cast<std::uint64_t>(kind) << 32 | id;
}

plan::Reason reasonOf(const trace::Event& event) {
    return event.aux < plan::kReasonCount ? static_cast<plan::Reason>(event.aux)
                                          : plan::Reason::Streamed;
}

} // namespace

void ArenaLives::clear() {
    *this = {};
}

void ArenaLives::add(const trace::Event& event, const trace::Legend& legend) {
    switch (event.kind) {
    case EventKind::Load: {
        const bool pinned = event.id < legend.shards.size() && legend.shards[event.id].pinned;
        begin(event, LifeKind::Weights, pinned ? Region::PinnedWeights : Region::StreamSlots);
        break;
    }
    case EventKind::Alloc:
        if (event.aux < model::kRegionCount)
            begin(event, LifeKind::Buffer, static_cast<Region>(event.aux));
        break;
    case EventKind::Evict:
        finish(event, LifeKind::Weights);
        break;
    case EventKind::Free:
        finish(event, LifeKind::Buffer);
        break;
    default:
        break;
    }
}

void ArenaLives::begin(const trace::Event& event, LifeKind kind, Region region) {
    const auto index = static_cast<std::uint32_t>(m_lives.size());
    Life life;
    life.kind = kind;
    life.region = region;
    life.loadReason = kind == LifeKind::Weights ? reasonOf(event) : plan::Reason::Streamed;
    life.id = event.id;
    life.offset = static_cast<std::int64_t>(event.a);
    life.bytes = static_cast<std::int64_t>(event.b);
    life.begin = static_cast<std::int64_t>(event.t_ns);

    const auto [it, isNew] =
        m_trackOf.try_emplace(life.offset, static_cast<std::uint32_t>(m_tracks.size()));
    if (isNew) {
        m_tracks.emplace_back();
        m_tracks.back().offset = life.offset;
    }
    Track& track = m_tracks[it->second];
    // Loads of one offset come in order; a clock that steps back by less than a read must not
    // unsort them.
    if (!track.begins.empty())
        life.begin = std::max(life.begin, track.begins.back());
    m_placeOf.emplace_back(it->second, static_cast<std::uint32_t>(track.lives.size()));
    track.lives.push_back(index);
    track.begins.push_back(life.begin);
    track.stats.append({life.bytes, 0, Life::kOpen});
    m_top = std::max(m_top, life.offset + life.bytes);
    m_lives.push_back(life);
    m_byOwner[ownerKey(kind, event.id)].push_back(index);
}

void ArenaLives::finish(const trace::Event& event, LifeKind kind) {
    const auto owner = m_byOwner.find(ownerKey(kind, event.id));
    if (owner == m_byOwner.end())
        return; // its begin was dropped
    const auto offset = static_cast<std::int64_t>(event.a);
    for (auto it = owner->second.rbegin(); it != owner->second.rend(); ++it) {
        Life& life = m_lives[*it];
        if (!life.isOpen())
            return;
        if (life.offset != offset)
            continue;
        life.end = std::max(life.begin, static_cast<std::int64_t>(event.t_ns));
        life.evictReason = kind == LifeKind::Weights ? reasonOf(event) : life.evictReason;
        const auto [track, place] = m_placeOf[*it];
        m_tracks[track].stats.replace(place, {life.bytes, life.end - life.begin, life.end});
        return;
    }
}

LifeMark ArenaLives::markOf(std::uint32_t index, std::int64_t now) const {
    const Life& life = m_lives[index];
    const std::int64_t end = life.isOpen() ? std::max(now, life.begin) : life.end;
    const std::int64_t duration = end - life.begin;
    return {index, 1, life.begin, end, life.offset, life.bytes, life.bytes, duration, duration};
}

std::size_t ArenaLives::firstReaching(const Track& track, std::int64_t t) const {
    const auto it = std::upper_bound(track.begins.begin(), track.begins.end(), t);
    auto i = static_cast<std::size_t>(it - track.begins.begin());
    while (i > 0 && m_lives[track.lives[i - 1]].end > t)
        --i;
    return i;
}

void ArenaLives::trackMarks(
    const Track& track, std::int64_t begin, std::int64_t end, std::int64_t shortest,
    std::int64_t now, std::vector<LifeMark>& out) const {
    const int bits = chunkBits(shortest);
    const auto firstFrom = [&track](std::int64_t t) {
        const auto it = std::lower_bound(track.begins.begin(), track.begins.end(), t);
        return static_cast<std::size_t>(it - track.begins.begin());
    };
    const std::size_t n = track.lives.size();
    std::size_t i = firstReaching(track, begin);
    if (i < n)
        i = firstFrom(track.begins[i] >> bits << bits);
    while (i < n && track.begins[i] < end) {
        const std::size_t next = firstFrom(((track.begins[i] >> bits) + 1) << bits);
        const auto stats = track.stats.bounds(i, next);
        if (stats.high[1] < shortest && stats.high[2] != Life::kOpen) {
            out.push_back(
                {track.lives[i], static_cast<std::uint32_t>(next - i), track.begins[i],
                 stats.high[2], track.offset, stats.low[0], stats.high[0], stats.low[1],
                 stats.high[1]});
        } else {
            chunkMarks(track, i, next, shortest, now, out);
        }
        i = next;
    }
}

void ArenaLives::chunkMarks(
    const Track& track, std::size_t first, std::size_t last, std::int64_t shortest,
    std::int64_t now, std::vector<LifeMark>& out) const {
    LifeMark merged;
    merged.count = 0;
    for (std::size_t k = first; k < last; ++k) {
        const LifeMark mark = markOf(track.lives[k], now);
        if (mark.maxDuration >= shortest) {
            if (merged.count > 0)
                out.push_back(merged);
            merged.count = 0;
            out.push_back(mark);
        } else if (merged.count == 0) {
            merged = mark;
        } else {
            ++merged.count;
            merged.end = mark.end;
            merged.minBytes = std::min(merged.minBytes, mark.minBytes);
            merged.maxBytes = std::max(merged.maxBytes, mark.maxBytes);
            merged.minDuration = std::min(merged.minDuration, mark.minDuration);
            merged.maxDuration = std::max(merged.maxDuration, mark.maxDuration);
        }
    }
    if (merged.count > 0)
        out.push_back(merged);
}

std::vector<LifeMark> ArenaLives::marks(Nanos begin, Nanos end, Nanos shortest, Nanos now) const {
    std::vector<LifeMark> result;
    for (const Track& track : m_tracks)
        trackMarks(track, begin.value, end.value, shortest.value, now.value, result);
    return result;
}

std::vector<LayoutSegment> ArenaLives::layoutAt(Nanos t, Bytes arena) const {
    std::vector<LayoutSegment> held;
    for (const Track& track : m_tracks) {
        const auto it = std::upper_bound(track.begins.begin(), track.begins.end(), t.value);
        if (it == track.begins.begin())
            continue;
        const std::uint32_t last =
            track.lives[static_cast<std::size_t>(it - track.begins.begin()) - 1];
        if (m_lives[last].holds(t))
            held.push_back({last, m_lives[last].offset, m_lives[last].bytes});
    }
    std::sort(held.begin(), held.end(), [](const LayoutSegment& a, const LayoutSegment& b) {
        return a.offset < b.offset;
    });
    std::vector<LayoutSegment> result;
    std::int64_t at = 0;
    for (const LayoutSegment& s : held) {
        if (s.offset > at)
            result.push_back({LayoutSegment::kFree, at, s.offset - at});
        result.push_back(s);
        at = std::max(at, s.offset + s.bytes);
    }
    if (at < arena.value)
        result.push_back({LayoutSegment::kFree, at, arena.value - at});
    return result;
}

const std::vector<std::uint32_t>* ArenaLives::livesOf(LifeKind kind, std::uint32_t id) const {
    const auto it = m_byOwner.find(ownerKey(kind, id));
    return it == m_byOwner.end() ? nullptr : &it->second;
}

std::optional<std::uint32_t> ArenaLives::lifeOf(LifeKind kind, std::uint32_t id, Nanos t) const {
    const auto* own = livesOf(kind, id);
    if (!own || own->empty())
        return std::nullopt;
    const auto later = [this](std::int64_t at, std::uint32_t i) { return at < m_lives[i].begin; };
    const auto it = std::upper_bound(own->begin(), own->end(), t.value, later);
    return it == own->begin() ? own->front() : *(it - 1);
}

std::optional<std::uint32_t> ArenaLives::lifeAt(Bytes offset, Nanos t) const {
    for (const LayoutSegment& s : layoutAt(t, Bytes(0)))
        if (!s.isFree() && s.offset <= offset.value && offset.value < s.offset + s.bytes)
            return s.life;
    return std::nullopt;
}

std::string_view lifeName(const Life& life, const trace::Legend& legend) {
    if (life.kind == LifeKind::Weights)
        return life.id < legend.shards.size() ? std::string_view(legend.shards[life.id].name)
                                              : "unknown shard";
    return life.id < legend.buffers.size() ? std::string_view(legend.buffers[life.id].name)
                                           : "unknown buffer";
}

} // namespace shardscope::analyze
