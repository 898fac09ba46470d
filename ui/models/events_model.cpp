// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/events_model.h"

#include <algorithm>

#include "sim_engine/base/format.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::ui {
namespace {

using trace::Event;
using trace::EventKind;

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

QString bytes(std::uint64_t n) {
    return QString::fromStdString(base::bytesText(base::Bytes(static_cast<std::int64_t>(n))));
}

template <typename Table>
QString nameIn(const Table& table, std::uint32_t id) {
    return id < table.size() ? QString::fromStdString(table[id].name) : QString::number(id);
}

bool hasShard(EventKind kind) {
    return kind == EventKind::Read || kind == EventKind::Stall || kind == EventKind::Load ||
           kind == EventKind::Evict;
}

bool hasBuffer(EventKind kind) {
    return kind == EventKind::Alloc || kind == EventKind::Free;
}

QString counterText(trace::CounterKind kind, std::uint64_t value) {
    const auto thousands = static_cast<double>(value) / 1000;
    switch (kind) {
    case trace::CounterKind::Heat:
        return EventsModel::tr("%1 °C").arg(thousands, 0, 'f', 1);
    case trace::CounterKind::Clock:
        return EventsModel::tr("%1 MHz").arg(thousands, 0, 'f', 0);
    default:
        return bytes(value);
    }
}

QString amountText(const Event& e) {
    switch (e.kind) {
    case EventKind::Read:
    case EventKind::Load:
    case EventKind::Evict:
    case EventKind::Alloc:
    case EventKind::Free:
        return bytes(e.b);
    case EventKind::RunBegin:
    case EventKind::Counter:
        return counterText(static_cast<trace::CounterKind>(e.id), e.a);
    case EventKind::Phase:
        return e.a == 1 ? EventsModel::tr("1 token") : EventsModel::tr("%1 tokens").arg(e.a);
    case EventKind::Dropped:
        return QString::number(e.a);
    default:
        return {};
    }
}

QString detailText(const Event& e) {
    switch (e.kind) {
    case EventKind::Load:
    case EventKind::Evict:
        if (e.aux < plan::kReasonCount)
            return text(plan::reasonText(static_cast<plan::Reason>(e.aux)));
        return {};
    case EventKind::Alloc:
    case EventKind::Free:
        if (e.aux < model::kRegionCount)
            return text(model::regionName(static_cast<model::Region>(e.aux)));
        return {};
    case EventKind::Compute:
        if (e.aux < model::kPassCount)
            return text(model::passName(static_cast<model::PassKind>(e.aux))) +
                   EventsModel::tr(", step %1").arg(e.b);
        return {};
    case EventKind::RunEnd:
        return e.id == 0   ? EventsModel::tr("done")
               : e.id == 1 ? EventsModel::tr("stopped")
                           : EventsModel::tr("failed");
    default:
        return {};
    }
}

std::uint64_t amountOf(const Event& e) {
    switch (e.kind) {
    case EventKind::Counter:
    case EventKind::RunBegin:
    case EventKind::Phase:
    case EventKind::Dropped:
        return e.a;
    default:
        return e.b;
    }
}

template <typename Table>
std::vector<bool> matches(const Table& table, const QString& wanted) {
    std::vector<bool> found(table.size());
    for (std::size_t i = 0; i < table.size(); ++i)
        found[i] = QString::fromStdString(table[i].name).contains(wanted, Qt::CaseInsensitive);
    return found;
}

} // namespace

QString eventSubject(const Event& e, const trace::Legend& legend) {
    switch (e.kind) {
    case EventKind::Compute:
        return nameIn(legend.ops, e.id);
    case EventKind::Read:
        if (e.id == trace::kRowRead)
            return EventsModel::tr("embedding row");
        return nameIn(legend.shards, e.id);
    case EventKind::Stall:
    case EventKind::Load:
    case EventKind::Evict:
        return nameIn(legend.shards, e.id);
    case EventKind::Alloc:
    case EventKind::Free:
        return nameIn(legend.buffers, e.id);
    case EventKind::Counter:
        return text(trace::counterName(static_cast<trace::CounterKind>(e.id)));
    case EventKind::Phase:
        return e.id < model::kPassCount ? text(model::passName(static_cast<model::PassKind>(e.id)))
                                        : QString::number(e.id);
    case EventKind::Token:
        return EventsModel::tr("token %1 (id %2)").arg(e.a).arg(e.id);
    case EventKind::Step:
        return EventsModel::tr("step %1 of %n beam(s)", nullptr, static_cast<int>(e.id)).arg(e.a);
    case EventKind::Window:
        return EventsModel::tr("window %1").arg(e.id);
    case EventKind::Note:
        return e.id < legend.notes.size() ? QString::fromStdString(legend.notes[e.id]) : QString();
    default:
        return {};
    }
}

EventsModel::EventsModel(QObject* parent) : QAbstractTableModel(parent) {}

void EventsModel::setTrace(const trace::Trace* trace) {
    m_trace = trace;
    rebuild();
}

void EventsModel::setFilter(const EventFilter& filter) {
    if (filter == m_filter)
        return;
    m_filter = filter;
    rebuild();
}

void EventsModel::rebuild() {
    beginResetModel();
    m_rows.clear();
    m_seen = 0;
    compileFilter();
    if (m_trace) {
        for (; m_seen < m_trace->events.size(); ++m_seen)
            if (keeps(m_trace->events[m_seen]))
                m_rows.push_back(static_cast<std::uint32_t>(m_seen));
        sortRows();
    }
    endResetModel();
}

void EventsModel::eventsAppended() {
    if (!m_trace || m_seen == m_trace->events.size())
        return;
    // A live run brings its legend with its first events.
    const bool staleNames = !m_filter.text.isEmpty() && m_ops.size() != m_trace->legend.ops.size();
    if (m_sortColumn >= 0 || staleNames)
        return rebuild();
    std::vector<std::uint32_t> added;
    for (; m_seen < m_trace->events.size(); ++m_seen)
        if (keeps(m_trace->events[m_seen]))
            added.push_back(static_cast<std::uint32_t>(m_seen));
    if (added.empty())
        return;
    const int first = rowCount();
    beginInsertRows({}, first, first + static_cast<int>(added.size()) - 1);
    m_rows.insert(m_rows.end(), added.begin(), added.end());
    endInsertRows();
}

void EventsModel::compileFilter() {
    m_kinds.assign(trace::kLastEventKind + 1, false);
    m_ops.clear();
    m_shards.clear();
    m_buffers.clear();
    if (!m_trace || m_filter.text.isEmpty())
        return;
    for (std::size_t kind = 0; kind < m_kinds.size(); ++kind)
        m_kinds[kind] = text(trace::eventKindName(static_cast<EventKind>(kind)))
                            .contains(m_filter.text, Qt::CaseInsensitive);
    m_ops = matches(m_trace->legend.ops, m_filter.text);
    m_shards = matches(m_trace->legend.shards, m_filter.text);
    m_buffers = matches(m_trace->legend.buffers, m_filter.text);
}

bool EventsModel::keeps(const Event& e) const {
    if (m_filter.kind && e.kind != *m_filter.kind)
        return false;
    if (m_filter.range && (e.end() < m_filter.range->first || e.start() > m_filter.range->second))
        return false;
    if (m_filter.text.isEmpty() || m_kinds[static_cast<std::size_t>(e.kind)])
        return true;
    const auto& named = e.kind == EventKind::Compute ? m_ops
                        : hasShard(e.kind)           ? m_shards
                                                     : m_buffers;
    if (e.kind == EventKind::Compute || hasShard(e.kind) || hasBuffer(e.kind))
        return e.id < named.size() && named[e.id];
    return eventSubject(e, m_trace->legend).contains(m_filter.text, Qt::CaseInsensitive);
}

std::uint64_t EventsModel::sortKey(const Event& e) const {
    switch (m_sortColumn) {
    case Kind:
        return static_cast<std::uint64_t>(e.kind);
    case What:
        return static_cast<std::uint64_t>(e.kind) << 32 | e.id;
    case Duration:
        return e.isSpan() ? e.a : 0;
    case Amount:
        return amountText(e).isEmpty() ? 0 : amountOf(e);
    case Detail:
        return e.aux;
    default:
        return e.t_ns;
    }
}

void EventsModel::sortRows() {
    if (m_sortColumn < 0)
        return;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed;
    keyed.reserve(m_rows.size());
    const bool down = m_order == Qt::DescendingOrder;
    for (const std::uint32_t row : m_rows) {
        const std::uint64_t key = sortKey(m_trace->events[row]);
        keyed.emplace_back(down ? ~key : key, row); // the row keeps equal keys in their order
    }
    std::sort(keyed.begin(), keyed.end());
    for (std::size_t i = 0; i < keyed.size(); ++i)
        m_rows[i] = keyed[i].second;
}

void EventsModel::sort(int column, Qt::SortOrder order) {
    m_sortColumn = column;
    m_order = order;
    rebuild();
}

int EventsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int EventsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EventsModel::data(const QModelIndex& index, int role) const {
    if (role == Qt::TextAlignmentRole) {
        const bool number =
            index.column() == Time || index.column() == Duration || index.column() == Amount;
        return static_cast<int>(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft));
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    const Event& e = event(index.row());
    switch (index.column()) {
    case Time:
        return QString::number(e.start().real() * 1e-6, 'f', 3);
    case Kind:
        return text(trace::eventKindName(e.kind));
    case What:
        return eventSubject(e, m_trace->legend);
    case Duration:
        return e.isSpan() ? QString::fromStdString(
                                base::timeText(base::Nanos(static_cast<std::int64_t>(e.a))))
                          : QString();
    case Amount:
        return amountText(e);
    case Detail:
        return detailText(e);
    default:
        return {};
    }
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            Qt::AlignVCenter |
            (section == Time || section == Duration || section == Amount ? Qt::AlignRight
                                                                         : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Time:
        return tr("Time, ms");
    case Kind:
        return tr("Event");
    case What:
        return tr("What");
    case Duration:
        return tr("Duration");
    case Amount:
        return tr("Amount");
    default:
        return tr("Detail");
    }
}

bool writeEventsCsv(const EventsModel& model, QIODevice& out) {
    const auto quoted = [](QString text) {
        text.replace(QLatin1Char('"'), QStringLiteral("\"\""));
        return QLatin1Char('"') + text + QLatin1Char('"');
    };
    QByteArray lines = "t_ns,kind,what,duration_ns,amount,detail\n";
    for (int row = 0; row < model.rowCount(); ++row) {
        const Event& e = model.event(row);
        const auto cell = [&](int column) {
            return quoted(model.index(row, column).data().toString());
        };
        const QStringList cells = {
            QString::number(e.t_ns),
            cell(EventsModel::Kind),
            cell(EventsModel::What),
            e.isSpan() ? QString::number(e.a) : QString(),
            amountText(e).isEmpty() ? QString() : QString::number(amountOf(e)),
            cell(EventsModel::Detail)};
        lines += cells.join(QLatin1Char(',')).toUtf8() + '\n';
        if (lines.size() > 1 << 20 || row + 1 == model.rowCount()) {
            if (out.write(lines) != lines.size())
                return false;
            lines.clear();
        }
    }
    return lines.isEmpty() || out.write(lines) == lines.size();
}

} // namespace shardscope::ui
