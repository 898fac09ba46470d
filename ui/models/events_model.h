// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QIODevice>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim_engine/trace/trace.h"

namespace shardscope::ui {

/// What the table keeps of a run. Empty filters keep all.
struct EventFilter {
    QString text; ///< part of a kind, an op, a shard or a buffer
    std::optional<trace::EventKind> kind;
    std::optional<std::pair<base::Nanos, base::Nanos>> range; ///< events that touch it

    bool operator==(const EventFilter&) const = default;
};

/// The events of a trace as rows, filtered and sorted. A row costs four bytes and its texts are
/// made when they are seen, so a million events do not freeze the window. GUI thread only.
class EventsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Time, Kind, What, Duration, Amount, Detail, ColumnCount };

    explicit EventsModel(QObject* parent = nullptr);

    /// The trace must outlive its use here; it may grow (eventsAppended).
    void setTrace(const trace::Trace* trace);
    void eventsAppended();
    void setFilter(const EventFilter& filter);
    const EventFilter& filter() const { return m_filter; }
    /// The event of a row.
    const trace::Event& event(int row) const { return m_trace->events[m_rows[std::size_t(row)]]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    void rebuild();
    void compileFilter();
    bool keeps(const trace::Event& event) const;
    void sortRows();
    std::uint64_t sortKey(const trace::Event& event) const;

    const trace::Trace* m_trace = nullptr;
    std::vector<std::uint32_t> m_rows; ///< indices into the trace's events
    std::size_t m_seen = 0;            ///< events already filtered
    EventFilter m_filter;
    int m_sortColumn = -1;
    Qt::SortOrder m_order = Qt::AscendingOrder;
    // What the filter's text matches, by id: one look-up an event instead of a text search.
    std::vector<bool> m_kinds, m_ops, m_shards, m_buffers;
};

/// The rows as they are filtered and sorted: "t_ns,kind,what,duration_ns,amount,detail". False
/// where the device does not take them.
bool writeEventsCsv(const EventsModel& model, QIODevice& out);

/// "decoder layer 2", "token 17", "RSS".
QString eventSubject(const trace::Event& event, const trace::Legend& legend);

} // namespace shardscope::ui
