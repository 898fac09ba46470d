// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/plot_hands.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <QWidget>

namespace shardscope::ui {

using base::Nanos;

namespace {

constexpr double kZoomStep = 0.8; ///< of the span, a notch of the wheel
constexpr double kFineStep = 0.95;
constexpr double kPanStep = 0.1;
constexpr double kKeyZoom = 0.7;
constexpr double kKeyPan = 0.15;
constexpr int kDragStart = 4; ///< px
constexpr int kEdgeReach = 5; ///< px

Nanos share(const TimeRange& range, double part) {
    return Nanos(static_cast<std::int64_t>(range.span().real() * part));
}

} // namespace

PlotHands::PlotHands(QWidget* widget, TimeState* time, PlotHandsTarget* target)
    : m_widget(widget), m_time(time), m_target(target) {
    widget->setMouseTracking(true);
}

bool PlotHands::handle(QEvent* event) {
    switch (event->type()) {
    case QEvent::Wheel:
        return wheel(static_cast<QWheelEvent*>(event));
    case QEvent::MouseButtonPress:
        return press(static_cast<QMouseEvent*>(event));
    case QEvent::MouseMove:
        return move(static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonRelease:
        return release(static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonDblClick:
        return doubleClick(static_cast<QMouseEvent*>(event));
    case QEvent::Leave:
        m_target->pointerLeft();
        return false;
    default:
        return false;
    }
}

bool PlotHands::wheel(QWheelEvent* event) {
    const QPointF at = event->position();
    // Some platforms turn Shift+wheel into a sideways one.
    const double notches =
        (event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x()) / 120.0;
    if (notches == 0)
        return true;
    const bool fine = event->modifiers() & Qt::ControlModifier;
    const double factor = std::pow(fine ? kFineStep : kZoomStep, notches);
    const bool sideways = event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0;
    if (sideways)
        m_time->panBy(share(m_time->visible(), -notches * kPanStep));
    else if (m_target->overValueAxis(at))
        m_target->zoomValues(at.y(), factor);
    else
        m_time->zoomAt(m_target->handsTimeAt(at.x()), factor);
    event->accept();
    return true;
}

PlotHands::Drag PlotHands::edgeAt(double x) const {
    const auto selection = m_time->selection();
    if (!selection)
        return Drag::None;
    const double begin = std::abs(m_target->handsPixelOf(selection->begin) - x);
    const double end = std::abs(m_target->handsPixelOf(selection->end) - x);
    if (std::min(begin, end) > kEdgeReach)
        return Drag::None;
    return begin < end ? Drag::SelectBegin : Drag::SelectEnd;
}

bool PlotHands::press(QMouseEvent* event) {
    m_pressed = m_last = event->position();
    m_moved = false;
    m_anchor = m_target->handsTimeAt(m_pressed.x());
    m_widget->setFocus(Qt::MouseFocusReason);
    if (m_target->overValueAxis(m_pressed))
        m_drag = Drag::ValueAxis;
    else if (event->button() == Qt::RightButton || event->button() == Qt::MiddleButton)
        m_drag = Drag::Pan;
    else if (event->button() == Qt::LeftButton)
        m_drag = edgeAt(m_pressed.x()) == Drag::None ? Drag::Select : edgeAt(m_pressed.x());
    if (m_drag == Drag::SelectBegin)
        m_anchor = m_time->selection()->end;
    else if (m_drag == Drag::SelectEnd)
        m_anchor = m_time->selection()->begin;
    event->accept();
    return true;
}

bool PlotHands::move(QMouseEvent* event) {
    m_last = event->position();
    const bool far = (m_last - m_pressed).manhattanLength() >= kDragStart;
    m_moved = m_moved || (m_drag != Drag::None && far);
    if (m_drag != Drag::None && m_moved)
        dragTo(m_last);
    showShape(m_last);
    m_target->pointerMoved(m_last);
    event->accept();
    return true;
}

void PlotHands::dragTo(QPointF position) {
    const Nanos t = m_target->handsTimeAt(position.x());
    switch (m_drag) {
    case Drag::Pan:
        m_time->panBy(m_anchor - t);
        break;
    case Drag::Select:
    case Drag::SelectBegin:
    case Drag::SelectEnd: {
        const TimeRange limit = m_time->bounds();
        const Nanos inside = std::clamp(t, limit.begin, limit.end);
        m_time->setSelection(TimeRange{std::min(m_anchor, inside), std::max(m_anchor, inside)});
        break;
    }
    case Drag::ValueAxis:
    case Drag::None:
        break;
    }
}

bool PlotHands::release(QMouseEvent* event) {
    const Drag drag = m_drag;
    m_drag = Drag::None;
    showShape(event->position());
    if (!m_moved && event->button() == Qt::RightButton)
        m_target->contextMenu(event->globalPosition().toPoint());
    else if (!m_moved && drag == Drag::Select)
        m_target->clicked(event->position());
    event->accept();
    return true;
}

bool PlotHands::doubleClick(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return true;
    if (m_target->overValueAxis(event->position()))
        m_target->resetValues();
    else
        m_target->doubleClicked(event->position());
    event->accept();
    return true;
}

void PlotHands::showShape(QPointF position) {
    Qt::CursorShape shape = Qt::ArrowCursor;
    if (m_drag == Drag::Pan && m_moved)
        shape = Qt::ClosedHandCursor;
    else if (m_drag == Drag::SelectBegin || m_drag == Drag::SelectEnd)
        shape = Qt::SizeHorCursor;
    else if (m_drag == Drag::None && edgeAt(position.x()) != Drag::None)
        shape = Qt::SizeHorCursor;
    if (m_widget->cursor().shape() != shape)
        m_widget->setCursor(shape);
}

bool PlotHands::handleKey(QKeyEvent* event) {
    const TimeRange visible = m_time->visible();
    const Nanos middle = m_time->cursor() && visible.contains(*m_time->cursor())
                             ? *m_time->cursor()
                             : visible.begin + Nanos(visible.span().value / 2);
    const bool alt = event->modifiers() & Qt::AltModifier;
    if (event->modifiers() & (Qt::ControlModifier | Qt::MetaModifier))
        return false;
    switch (event->key()) {
    case Qt::Key_W:
        m_time->zoomAt(middle, kKeyZoom);
        return true;
    case Qt::Key_S:
        m_time->zoomAt(middle, 1 / kKeyZoom);
        return true;
    case Qt::Key_Left:
        if (alt) {
            m_time->back();
            return true;
        }
        [[fallthrough]];
    case Qt::Key_A:
        m_time->panBy(share(visible, -kKeyPan));
        return true;
    case Qt::Key_Right:
    case Qt::Key_D:
        m_time->panBy(share(visible, kKeyPan));
        return true;
    case Qt::Key_Home:
        m_time->home();
        return true;
    case Qt::Key_Backspace:
        m_time->back();
        return true;
    case Qt::Key_Escape:
        // With nothing left to clear, the key is the page's: it asks whether to stop a run.
        if (!m_time->selection() && !m_time->canGoBack())
            return false;
        m_time->clear();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        m_time->zoomToSelection();
        return true;
    case Qt::Key_F:
        if (m_time->selection())
            m_time->pushFilter(*m_time->selection());
        else
            m_target->doubleClicked(m_last);
        return true;
    default:
        return false;
    }
}

} // namespace shardscope::ui
