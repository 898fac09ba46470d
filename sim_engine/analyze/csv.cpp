// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/csv.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace shardscope::analyze {

using base::Nanos;

namespace {

/// Builds a table cell by cell; text that needs quotes gets them.
class Table {
public:
    explicit Table(std::string_view header) : m_text(header) { m_text += "\r\n"; }

    Table& add(std::string_view text) {
        separate();
        if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
            m_text.append(text);
            return *this;
        }
        m_text += '"';
        for (const char c : text) {
            if (c == '"')
                m_text += '"';
            m_text += c;
        }
        m_text += '"';
        return *this;
    }
    Table& add(std::int64_t value) { return add(std::to_string(value)); }
    void endRow() {
        m_text += "\r\n";
        m_first = true;
    }
    std::string take() { return std::move(m_text); }

private:
    void separate() {
        if (!m_first)
            m_text += ',';
        m_first = false;
    }

    std::string m_text;
    bool m_first = true;
};

std::string_view nameOf(SpanLaneKind lane, const Span& span, const trace::Legend& legend) {
    if (lane == SpanLaneKind::Compute)
        return span.id < legend.ops.size() ? std::string_view(legend.ops[span.id].name) : "unknown";
    if (span.id == trace::kRowRead)
        return "embedding rows";
    return span.id < legend.shards.size() ? std::string_view(legend.shards[span.id].name)
                                          : "unknown";
}

} // namespace

std::string memoryCsv(const RunIndex& index, Nanos begin, Nanos end) {
    std::string header = "t_ns";
    for (std::size_t r = 0; r < model::kRegionCount; ++r) {
        header += ',';
        for (const char c : model::regionName(static_cast<model::Region>(r)))
            header += c == ' ' ? '_' : c;
    }
    Table table(header + ",total");
    const MemorySeries& memory = index.memory();
    for (std::size_t i = memory.firstFrom(begin); i < memory.size() && memory.timeOf(i) <= end;
         ++i) {
        table.add(memory.timeOf(i).value);
        std::int64_t total = 0;
        for (const std::int64_t bytes : memory.regionsOf(i)) {
            table.add(bytes);
            total += bytes;
        }
        table.add(total).endRow();
    }
    return table.take();
}

std::string arenaCsv(const RunIndex& index, const trace::Legend& legend, Nanos begin, Nanos end) {
    Table table("name,kind,region,offset,bytes,begin_ns,end_ns,load_reason,evict_reason");
    for (const Life& life : index.arena().lives()) {
        if (life.begin > end.value || life.end < begin.value)
            continue;
        const bool weights = life.kind == LifeKind::Weights;
        table.add(lifeName(life, legend)).add(weights ? "weights" : "buffer");
        table.add(model::regionName(life.region)).add(life.offset).add(life.bytes);
        table.add(life.begin).add(life.isOpen() ? std::string() : std::to_string(life.end));
        table.add(weights ? plan::reasonText(life.loadReason) : "");
        table.add(weights && !life.isOpen() ? plan::reasonText(life.evictReason) : "").endRow();
    }
    return table.take();
}

std::string lanesCsv(const RunIndex& index, const trace::Legend& legend, Nanos begin, Nanos end) {
    Table table("lane,name,begin_ns,duration_ns,bytes");
    for (std::size_t k = 0; k < kSpanLaneCount; ++k) {
        const auto kind = static_cast<SpanLaneKind>(k);
        const SpanLane& lane = index.lane(kind);
        for (std::size_t i = lane.firstFrom(begin);
             i < lane.spans().size() && lane.spans()[i].begin < end.value; ++i) {
            const Span& span = lane.spans()[i];
            table.add(spanLaneName(kind)).add(nameOf(kind, span, legend)).add(span.begin);
            table.add(span.duration()).add(span.bytes).endRow();
        }
    }
    return table.take();
}

std::string tokensCsv(const RunIndex& index, Nanos begin, Nanos end) {
    Table table("window,number,token,begin_ns,total_ns,compute_ns,read_ns,stall_ns,other_ns");
    for (const TokenBar& bar : index.tokens().bars()) {
        if (bar.end < begin.value || bar.end > end.value)
            continue;
        table.add(bar.window).add(bar.number);
        table.add(bar.token == kNoToken ? std::string() : std::to_string(bar.token));
        table.add(bar.begin).add(bar.total());
        table.add(bar.compute).add(bar.read).add(bar.stall).add(bar.other).endRow();
    }
    return table.take();
}

} // namespace shardscope::analyze
