// SPDX-License-Identifier: GPL-3.0-or-later
// What the hands do over any widget whose x axis is the time of the run: wheel zooms at the
// pointer (Ctrl finer), Shift+wheel pans, right or middle drag pans, left drag selects a range with
// edges that can be dragged, double click fits.
#pragma once

#include <optional>

#include <QPoint>
#include <QRect>

#include "ui/state/time_state.h"

class QEvent;
class QKeyEvent;
class QMouseEvent;
class QWheelEvent;
class QWidget;

namespace shardscope::ui {

/// The widget that PlotHands move: where its time stands, and what else it does with the pointer.
class PlotHandsTarget {
public:
    virtual ~PlotHandsTarget() = default;

    virtual QRect handsArea() const = 0;
    virtual bool overValueAxis(QPointF position) const = 0;
    virtual base::Nanos handsTimeAt(double x) const = 0;
    virtual double handsPixelOf(base::Nanos t) const = 0;
    virtual void zoomValues(double y, double factor) = 0;
    virtual void resetValues() = 0;
    virtual void pointerMoved(QPointF position) = 0;
    virtual void pointerLeft() = 0;
    /// A click that selected nothing.
    virtual void clicked(QPointF position) = 0;
    virtual void doubleClicked(QPointF position) = 0;
    virtual void contextMenu(QPoint globalPosition) = 0;
};

/// Turns events of `widget` into changes of a TimeState. GUI thread only.
class PlotHands {
public:
    PlotHands(QWidget* widget, TimeState* time, PlotHandsTarget* target);

    /// True where the event was for us.
    bool handle(QEvent* event);
    /// W, S, A, D, arrows, Home, Backspace, Esc, Enter, F.
    bool handleKey(QKeyEvent* event);

    bool isDragging() const { return m_drag != Drag::None; }

private:
    enum class Drag { None, Pan, Select, SelectBegin, SelectEnd, ValueAxis };

    bool wheel(QWheelEvent* event);
    bool press(QMouseEvent* event);
    bool move(QMouseEvent* event);
    bool release(QMouseEvent* event);
    bool doubleClick(QMouseEvent* event);
    void dragTo(QPointF position);
    /// Which edge of the selection is at x.
    Drag edgeAt(double x) const;
    void showShape(QPointF position);

    QWidget* m_widget;
    TimeState* m_time;
    PlotHandsTarget* m_target;
    Drag m_drag = Drag::None;
    bool m_moved = false;
    QPointF m_pressed;
    QPointF m_last;
    base::Nanos m_anchor;
    std::optional<TimeRange> m_selectionBefore;
};

} // namespace shardscope::ui
