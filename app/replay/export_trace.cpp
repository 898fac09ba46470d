// SPDX-License-Identifier: GPL-3.0-or-later
// Format: "Trace Event Format" (Google, 2016): X = complete event, C = counter, i = instant,
// M = metadata; times in microseconds.
#include "app/replay/export_trace.h"

#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::app {

using base::formatted;
using trace::CounterKind;
using trace::Event;
using trace::EventKind;

namespace {

constexpr std::size_t kPiece = 1 << 16;
constexpr std::string_view kRowReadName = "rows of the token table";

/// Collects text and hands it on in pieces.
class Writer {
public:
    explicit Writer(QIODevice& out) : m_out(out) {}
    void add(std::string_view text) {
        m_text += text;
        if (m_text.size() >= kPiece)
            flush();
    }
    base::Status finish() {
        flush();
        if (m_ok)
            return {};
        return base::Error{
            base::ErrorCode::Failed,
            "the export cannot be written: " + m_out.errorString().toStdString(), "export",
            "look at free space and permissions"};
    }

private:
    void flush() {
        const auto bytes = static_cast<qint64>(m_text.size());
        m_ok = m_ok && m_out.write(m_text.data(), bytes) == bytes;
        m_text.clear();
    }
    QIODevice& m_out;
    std::string m_text;
    bool m_ok = true;
};

/// The name of what an event speaks of.
std::string_view nameOf(const trace::Legend& legend, const Event& e) {
    switch (e.kind) {
    case EventKind::Compute:
        return legend.ops[e.id].name;
    case EventKind::Read:
        if (e.id == trace::kRowRead)
            return kRowReadName;
        [[fallthrough]];
    case EventKind::Stall:
    case EventKind::Load:
    case EventKind::Evict:
        return legend.shards[e.id].name;
    case EventKind::Alloc:
    case EventKind::Free:
        return legend.buffers[e.id].name;
    case EventKind::Counter:
        return trace::counterName(static_cast<CounterKind>(e.id));
    case EventKind::Phase:
        return model::passName(static_cast<model::PassKind>(e.id));
    case EventKind::Note:
        return e.id < legend.notes.size() ? std::string_view(legend.notes[e.id])
                                          : std::string_view();
    default:
        return trace::eventKindName(e.kind);
    }
}

std::string jsonText(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string micros(std::uint64_t ns) {
    return formatted(
        "%llu.%03llu", static_cast<unsigned long long>(ns / 1000),
        static_cast<unsigned long long>(ns % 1000));
}

std::string reasonOf(const Event& e) {
    if ((e.kind != EventKind::Load && e.kind != EventKind::Evict) || e.aux >= plan::kReasonCount)
        return {};
    return std::string(plan::reasonText(static_cast<plan::Reason>(e.aux)));
}

/// Bytes of the arena in use by region, as events change them.
class ArenaUse {
public:
    explicit ArenaUse(const trace::Legend& legend) : m_legend(legend) {}
    /// The region whose use has changed, if any has.
    std::optional<std::size_t> take(const Event& e) {
        const bool more = e.kind == EventKind::Load || e.kind == EventKind::Alloc;
        if (!more && e.kind != EventKind::Evict && e.kind != EventKind::Free)
            return std::nullopt;
        const bool shard = e.kind == EventKind::Load || e.kind == EventKind::Evict;
        const auto region = shard ? static_cast<std::size_t>(
                                        m_legend.shards[e.id].pinned ? model::Region::PinnedWeights
                                                                     : model::Region::StreamSlots)
                                  : std::size_t{e.aux};
        m_used[region] += more ? static_cast<std::int64_t>(e.b) : -static_cast<std::int64_t>(e.b);
        return region;
    }
    std::int64_t used(std::size_t region) const { return m_used[region]; }

private:
    const trace::Legend& m_legend;
    std::array<std::int64_t, model::kRegionCount> m_used{};
};

void addMetadata(Writer& out, std::string_view process) {
    out.add(
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":" +
        jsonText(process) + "}}");
    for (std::size_t lane = 0; lane < trace::kLaneCount; ++lane)
        out.add(
            formatted(
                ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"name\":\"thread_name\",\"args\":"
                "{\"name\":",
                lane + 1) +
            jsonText(trace::laneName(static_cast<trace::Lane>(lane))) + "}}");
}

std::string argsOf(const Event& e) {
    switch (e.kind) {
    case EventKind::Compute:
        return "{\"pass\":" + jsonText(model::passName(static_cast<model::PassKind>(e.aux))) +
               formatted(",\"step\":%llu}", static_cast<unsigned long long>(e.b));
    case EventKind::Read:
        return formatted("{\"bytes\":%llu}", static_cast<unsigned long long>(e.b));
    case EventKind::Load:
    case EventKind::Evict:
        return formatted(
                   "{\"offset\":%llu,\"bytes\":%llu,\"reason\":",
                   static_cast<unsigned long long>(e.a), static_cast<unsigned long long>(e.b)) +
               jsonText(reasonOf(e)) + "}";
    case EventKind::Alloc:
    case EventKind::Free:
        return formatted(
            "{\"offset\":%llu,\"bytes\":%llu}", static_cast<unsigned long long>(e.a),
            static_cast<unsigned long long>(e.b));
    case EventKind::Token:
        return formatted("{\"token\":%u}", e.id);
    case EventKind::Step:
        return formatted("{\"beams\":%u}", e.id);
    default:
        return "{}";
    }
}

void addEvent(Writer& out, const trace::Legend& legend, const Event& e) {
    const unsigned lane = static_cast<unsigned>(e.lane) + 1;
    if (e.kind == EventKind::Counter) {
        out.add(
            ",\n{\"ph\":\"C\",\"pid\":1,\"ts\":" + micros(e.t_ns) +
            ",\"name\":" + jsonText(nameOf(legend, e)) + ",\"args\":{" +
            jsonText(trace::counterUnit(static_cast<CounterKind>(e.id))) +
            formatted(":%llu}}", static_cast<unsigned long long>(e.a)));
        return;
    }
    const std::string_view kind = trace::eventKindName(e.kind), name = nameOf(legend, e);
    const std::string title = e.kind == EventKind::Compute || name == kind
                                  ? std::string(name)
                                  : std::string(kind) + " " + std::string(name);
    std::string text = e.isSpan() ? ",\n{\"ph\":\"X\",\"dur\":" + micros(e.a)
                                  : std::string(",\n{\"ph\":\"i\",\"s\":\"t\"");
    text += formatted(",\"pid\":1,\"tid\":%u,\"ts\":", lane) + micros(e.t_ns) +
            ",\"cat\":" + jsonText(kind) + ",\"name\":" + jsonText(title) +
            ",\"args\":" + argsOf(e) + "}";
    out.add(text);
}

void writePerfetto(const trace::Trace& trace, std::string_view process, Writer& out) {
    out.add("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    addMetadata(out, process);
    ArenaUse arena(trace.legend);
    for (const Event& e : trace.events) {
        addEvent(out, trace.legend, e);
        if (const auto region = arena.take(e))
            out.add(
                ",\n{\"ph\":\"C\",\"pid\":1,\"ts\":" + micros(e.t_ns) + ",\"name\":" +
                jsonText(
                    "arena: " +
                    std::string(model::regionName(static_cast<model::Region>(*region)))) +
                formatted(
                    ",\"args\":{\"bytes\":%lld}}", static_cast<long long>(arena.used(*region))));
    }
    out.add("\n]}\n");
}

/// A field of RFC 4180.
std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

void writeCsv(const trace::Trace& trace, Writer& out) {
    out.add("t_ns,duration_ns,kind,lane,id,name,pass,step,bytes,offset,value,reason\n");
    for (const Event& e : trace.events) {
        const bool placed = e.kind == EventKind::Load || e.kind == EventKind::Evict ||
                            e.kind == EventKind::Alloc || e.kind == EventKind::Free;
        const bool sized = placed || e.kind == EventKind::Read;
        const bool computes = e.kind == EventKind::Compute;
        const auto number = [](bool has, std::uint64_t n) {
            return has ? std::to_string(n) : std::string();
        };
        out.add(
            std::to_string(e.t_ns) + ',' + number(e.isSpan(), e.a) + ',' +
            std::string(trace::eventKindName(e.kind)) + ',' + field(trace::laneName(e.lane)) + ',' +
            std::to_string(e.id) + ',' + field(nameOf(trace.legend, e)) + ',' +
            (computes ? std::string(model::passName(static_cast<model::PassKind>(e.aux)))
                      : std::string()) +
            ',' + number(computes, e.b) + ',' + number(sized, e.b) + ',' + number(placed, e.a) +
            ',' + number(!placed && !e.isSpan(), e.a) + ',' + field(reasonOf(e)) + '\n');
    }
}

} // namespace

std::optional<ExportFormat> exportFormatByName(std::string_view name) {
    if (name == "perfetto")
        return ExportFormat::Perfetto;
    if (name == "csv")
        return ExportFormat::Csv;
    return std::nullopt;
}

base::Status writeTrace(
    const trace::Trace& trace, ExportFormat format, std::string_view process, QIODevice& out) {
    Writer writer(out);
    if (format == ExportFormat::Perfetto)
        writePerfetto(trace, process, writer);
    else
        writeCsv(trace, writer);
    return writer.finish();
}

} // namespace shardscope::app
