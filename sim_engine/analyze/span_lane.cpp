// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/span_lane.h"

#include <algorithm>

#include "sim_engine/analyze/chunk.h"

namespace shardscope::analyze {

using base::Nanos;

void SpanLane::Block::include(const Span& span) {
    Block one;
    one.begin = one.lastBegin = span.begin;
    one.end = span.end;
    one.busy = one.minDuration = one.maxDuration = span.duration();
    one.count = 1;
    one.busyByKind[span.kind < one.busyByKind.size() ? span.kind : 0] = span.duration();
    include(one);
}

void SpanLane::Block::include(const Block& block) {
    if (count == 0) {
        *this = block;
        return;
    }
    begin = std::min(begin, block.begin);
    end = std::max(end, block.end);
    lastBegin = std::max(lastBegin, block.lastBegin);
    busy += block.busy;
    minDuration = std::min(minDuration, block.minDuration);
    maxDuration = std::max(maxDuration, block.maxDuration);
    count += block.count;
    for (std::size_t k = 0; k < busyByKind.size(); ++k)
        busyByKind[k] += block.busyByKind[k];
}

/// Gathers short spans that begin in the same chunk of time into one mark.
class SpanLane::Merger {
public:
    Merger(std::int64_t shortest, std::vector<SpanMark>& out)
        : m_bits(chunkBits(shortest)), m_out(out) {}

    bool inOneChunk(const Block& block) const {
        return chunk(block.begin) == chunk(block.lastBegin);
    }

    template <typename Part>
    void add(const Part& part, std::size_t index) {
        if (m_block.count > 0 && chunk(part.begin) != chunk(m_block.begin))
            flush();
        if (m_block.count == 0)
            m_first = index;
        m_block.include(part);
    }

    void flush() {
        if (m_block.count == 0)
            return;
        const auto& byKind = m_block.busyByKind;
        const auto most = std::max_element(byKind.begin(), byKind.end());
        m_out.push_back(
            {static_cast<std::uint32_t>(m_first), m_block.count, m_block.begin, m_block.end,
             m_block.busy, m_block.minDuration, m_block.maxDuration,
             static_cast<std::uint8_t>(most - byKind.begin())});
        m_block = {};
    }

private:
    std::int64_t chunk(std::int64_t t) const { return t >> m_bits; }

    int m_bits;
    std::vector<SpanMark>& m_out;
    Block m_block;
    std::size_t m_first = 0;
};

void SpanLane::clear() {
    *this = {};
}

void SpanLane::add(const Span& span) {
    m_busyByKind[span.kind < m_busyByKind.size() ? span.kind : 0] += span.duration();
    if (m_spans.empty() || m_spans.back().begin <= span.begin) {
        append(span);
        return;
    }
    const std::size_t at = firstFrom(Nanos(span.begin));
    std::vector<Span> tail(m_spans.begin() + static_cast<std::ptrdiff_t>(at), m_spans.end());
    truncate(at);
    append(span);
    for (const Span& later : tail)
        append(later);
}

void SpanLane::append(const Span& span) {
    m_spans.push_back(span);
    std::size_t size = kBase;
    for (std::size_t level = 0; m_spans.size() % size == 0; ++level, size *= kFanOut)
        closeBlock(level);
}

void SpanLane::closeBlock(std::size_t level) {
    if (level == m_levels.size())
        m_levels.emplace_back();
    Block block;
    const std::size_t index = m_levels[level].size();
    if (level == 0) {
        for (std::size_t i = index * kBase; i < (index + 1) * kBase; ++i)
            block.include(m_spans[i]);
    } else {
        for (std::size_t i = index * kFanOut; i < (index + 1) * kFanOut; ++i)
            block.include(m_levels[level - 1][i]);
    }
    m_levels[level].push_back(block);
}

void SpanLane::truncate(std::size_t count) {
    m_spans.resize(count);
    std::size_t size = kBase;
    for (auto& level : m_levels) {
        level.resize(std::min(level.size(), count / size));
        size *= kFanOut;
    }
}

std::size_t SpanLane::firstFrom(Nanos t) const {
    const auto before = [](const Span& s, std::int64_t at) { return s.begin < at; };
    const auto it = std::lower_bound(m_spans.begin(), m_spans.end(), t.value, before);
    return static_cast<std::size_t>(it - m_spans.begin());
}

std::vector<SpanMark> SpanLane::marks(Nanos begin, Nanos end, Nanos shortest) const {
    std::vector<SpanMark> result;
    Merger merger(shortest.value, result);
    for (std::size_t i = 0; i < m_spans.size() && m_spans[i].begin < end.value;) {
        // The largest block that starts here and can be taken or skipped whole.
        std::size_t size = kBase, level = 0, taken = 0;
        const Block* whole = nullptr;
        for (; level < m_levels.size() && i % size == 0 && i / size < m_levels[level].size();
             ++level, size *= kFanOut) {
            const Block& block = m_levels[level][i / size];
            const bool outside = block.end <= begin.value;
            const bool mergeable = block.maxDuration < shortest.value && merger.inOneChunk(block);
            if (!outside && !mergeable)
                break;
            taken = size;
            whole = outside ? nullptr : &block;
        }
        if (taken > 0) {
            if (whole)
                merger.add(*whole, i);
            i += taken;
            continue;
        }
        const Span& span = m_spans[i];
        if (span.end > begin.value || span.begin >= begin.value) {
            if (span.duration() < shortest.value) {
                merger.add(span, i);
            } else {
                merger.flush();
                result.push_back(
                    {static_cast<std::uint32_t>(i), 1, span.begin, span.end, span.duration(),
                     span.duration(), span.duration(), span.kind});
            }
        }
        ++i;
    }
    merger.flush();
    return result;
}

Nanos SpanLane::busyWithin(Nanos begin, Nanos end) const {
    std::int64_t busy = 0;
    for (std::size_t i = 0; i < m_spans.size() && m_spans[i].begin < end.value;) {
        std::size_t size = kBase, taken = 0;
        std::int64_t whole = 0;
        for (std::size_t level = 0;
             level < m_levels.size() && i % size == 0 && i / size < m_levels[level].size();
             ++level, size *= kFanOut) {
            const Block& block = m_levels[level][i / size];
            const bool outside = block.end <= begin.value;
            if (!outside && (block.begin < begin.value || block.end > end.value))
                break;
            whole = outside ? 0 : block.busy;
            taken = size;
        }
        if (taken > 0) {
            busy += whole;
            i += taken;
            continue;
        }
        const Span& s = m_spans[i++];
        busy +=
            std::max<std::int64_t>(0, std::min(s.end, end.value) - std::max(s.begin, begin.value));
    }
    return Nanos(busy);
}

std::optional<std::uint32_t> SpanLane::spanAt(Nanos t, Nanos near) const {
    const std::size_t after = firstFrom(t + Nanos(1));
    std::optional<std::uint32_t> best;
    std::int64_t bestDistance = near.value + 1;
    const std::size_t first = after >= 4 ? after - 4 : 0;
    for (std::size_t i = first; i < std::min(after + 1, m_spans.size()); ++i) {
        const Span& s = m_spans[i];
        const std::int64_t distance =
            t.value < s.begin ? s.begin - t.value : std::max<std::int64_t>(0, t.value - s.end);
        if (distance < bestDistance || (distance == bestDistance && distance == 0)) {
            best = static_cast<std::uint32_t>(i);
            bestDistance = distance;
        }
    }
    return best;
}

} // namespace shardscope::analyze
