// SPDX-License-Identifier: GPL-3.0-or-later
// Where in time the user is: shared by every view of a run, so that they move as one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "sim_engine/base/units.h"

namespace shardscope::ui {

/// A span of time of a run, from its begin.
struct TimeRange {
    base::Nanos begin;
    base::Nanos end;

    bool operator==(const TimeRange&) const = default;
    base::Nanos span() const { return end - begin; }
    bool contains(base::Nanos t) const { return begin <= t && t <= end; }
    bool empty() const { return end <= begin; }
};

/// A thing that several views show: an index into a table of the trace's legend, or the number of
/// a token in the run.
struct Item {
    enum class Kind : std::uint8_t { None, Op, Shard, Buffer, Token };
    Kind kind = Kind::None;
    std::uint32_t id = 0;

    bool operator==(const Item&) const = default;
    bool valid() const { return kind != Kind::None; }
};

/// What somebody wrote about a span of time.
struct TimeNote {
    TimeRange range;
    QString text;

    bool operator==(const TimeNote&) const = default;
};

/// Visible range, cursor, selection, hovered item and filters, with one undo stack. GUI thread
/// only.
class TimeState : public QObject {
    Q_OBJECT

public:
    explicit TimeState(QObject* parent = nullptr);

    /// Nothing narrower can be made visible.
    static constexpr base::Nanos kShortest{200};

    TimeRange run() const { return m_run; }
    /// What can be made visible: the innermost filter, or the run.
    TimeRange bounds() const { return m_now.filters.empty() ? m_run : m_now.filters.back(); }
    TimeRange visible() const { return m_now.visible; }
    bool showsAll() const { return m_now.visible == bounds(); }
    std::optional<base::Nanos> cursor() const { return m_cursor; }
    std::optional<TimeRange> selection() const { return m_selection; }
    Item hovered() const { return m_hovered; }
    const std::vector<TimeRange>& filters() const { return m_now.filters; }
    /// By their begin.
    const std::vector<TimeNote>& notes() const { return m_notes; }
    void setNotes(std::vector<TimeNote> notes);
    /// What a note would be about: the selection, else the cursor.
    std::optional<TimeRange> noteRange() const;
    bool isLive() const { return m_live; }
    /// True while the visible range keeps up with a live run.
    bool followsLive() const { return m_live && m_follow; }
    bool canGoBack() const { return !m_undo.empty(); }

    /// Another run: forgets everything.
    void reset(TimeRange run);
    /// The run grew (or its prediction changed length): a view of all of it stays one of all of it.
    void setRun(TimeRange run);
    void setLive(bool live);

public slots:
    /// Shows `range`, as far as it lies in bounds.
    void zoomTo(shardscope::ui::TimeRange range);
    /// Multiplies the visible span by `factor` and keeps `at` where it is on the screen. Steps that
    /// follow each other quickly are undone together.
    void zoomAt(shardscope::base::Nanos at, double factor);
    void panBy(shardscope::base::Nanos distance);
    /// Shows `range`; a drag that calls this many times is undone as one step.
    void showRange(shardscope::ui::TimeRange range);
    /// Moves the visible range so that `t` is in it; does nothing where it is.
    void reveal(shardscope::base::Nanos t);
    void home();
    /// Undoes the last zoom, pan or filter.
    void back();
    /// Esc: clears the selection; where there is none, undoes a step.
    void clear();
    /// Keeps up with the live run again.
    void resume();

    void setCursor(std::optional<shardscope::base::Nanos> t);
    void setSelection(std::optional<shardscope::ui::TimeRange> range);
    void zoomToSelection();
    void setHovered(shardscope::ui::Item item);
    /// Restricts every view to `range`; filters nest.
    void pushFilter(shardscope::ui::TimeRange range);
    /// Drops the filter at `index` and those within it.
    void removeFilter(int index);

signals:
    void runChanged();
    void visibleChanged();
    void cursorChanged();
    void selectionChanged();
    void hoverChanged();
    void filtersChanged();
    void followChanged();
    void notesChanged();

private:
    struct Place {
        TimeRange visible;
        std::vector<TimeRange> filters;
    };
    enum class Motion { Step, Continuous };

    void remember(Motion motion);
    void moveTo(TimeRange range);
    void stopFollowing();
    void setFollow(bool follow);
    TimeRange clamped(TimeRange range) const;

    TimeRange m_run;
    Place m_now;
    std::vector<Place> m_undo;
    std::optional<base::Nanos> m_cursor;
    std::optional<TimeRange> m_selection;
    Item m_hovered;
    std::vector<TimeNote> m_notes;
    bool m_live = false;
    bool m_follow = true;
    Motion m_lastMotion = Motion::Step;
    QElapsedTimer m_sinceMotion;
};

} // namespace shardscope::ui
