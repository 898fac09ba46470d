// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/overview_strip.h"

#include <algorithm>
#include <cmath>

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "ui/plot/plot_text.h"
#include "ui/plot/tick_text.h"

namespace shardscope::ui {

using base::Nanos;

namespace {

constexpr int kChartHeight = 30;
constexpr int kHandleReach = 5;
constexpr double kZoomStep = 0.8;
constexpr double kTickPx = 92; ///< about so far from each other

} // namespace

OverviewStrip::OverviewStrip(RunData* data, QWidget* parent)
    : QWidget(parent), m_data(data), m_theme(Theme::light()) {
    setObjectName(QStringLiteral("plot.overview"));
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    TimeState* time = data->time();
    connect(data, &RunData::measuredChanged, this, [this] { requestDraw(true); });
    connect(data, &RunData::predictedChanged, this, [this] { requestDraw(true); });
    connect(time, &TimeState::runChanged, this, [this] { requestDraw(true); });
    connect(time, &TimeState::visibleChanged, this, [this] { requestDraw(false); });
    connect(time, &TimeState::cursorChanged, this, [this] { requestDraw(false); });
    connect(time, &TimeState::selectionChanged, this, [this] { requestDraw(false); });
    connect(time, &TimeState::notesChanged, this, [this] { requestDraw(false); });
}

void OverviewStrip::setTheme(const Theme& theme) {
    m_theme = theme;
    requestDraw(false);
}

QSize OverviewStrip::sizeHint() const {
    return {900, kChartHeight + fontMetrics().height() + 8};
}
QSize OverviewStrip::minimumSizeHint() const {
    return {320, sizeHint().height()};
}

void OverviewStrip::requestDraw(bool dataChanged) {
    m_stale = m_stale || dataChanged;
    m_data->frames()->request(this, [this] { update(); });
}

QRect OverviewStrip::strip() const {
    const QMargins margins = plotMargins(fontMetrics(), true);
    return rect().adjusted(margins.left(), 4, -margins.right(), -(fontMetrics().height() + 4));
}

double OverviewStrip::pixelOf(Nanos t) const {
    const TimeRange run = m_data->time()->run();
    return strip().left() +
           (t - run.begin).real() / std::max(1.0, run.span().real()) * strip().width();
}

Nanos OverviewStrip::timeAt(double x) const {
    const TimeRange run = m_data->time()->run();
    const double share = (x - strip().left()) / std::max(1, strip().width());
    return run.begin + Nanos(static_cast<std::int64_t>(share * run.span().real()));
}

void OverviewStrip::resizeEvent(QResizeEvent*) {
    m_stale = true;
}

void OverviewStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    drawInto(painter);
}

void OverviewStrip::drawInto(QPainter& painter) {
    painter.setFont(font());
    painter.fillRect(rect(), m_theme.background);
    paintRun(painter);
    paintWindow(painter);
}

void OverviewStrip::paintRun(QPainter& painter) {
    const QRect area = strip();
    const TimeRange run = m_data->time()->run();
    painter.fillRect(area, m_theme.freeSpace);
    const analyze::RunIndex* index = m_data->shownIndex();
    if (m_stale && index)
        m_columns = index->memory().columns(
            run.begin, run.end, static_cast<std::size_t>(std::max(1, area.width())), index->end());
    if (!index)
        m_columns.clear();
    m_stale = false;
    const double top = index ? std::max(1.0, index->memory().peak().real()) : 1.0;
    constexpr auto kWeights = static_cast<std::size_t>(model::Region::StreamSlots);
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const int x = area.left() + static_cast<int>(i);
        const auto height = [&](std::int64_t bytes) {
            return static_cast<int>(static_cast<double>(bytes) / top * (area.height() - 2));
        };
        const int all = height(m_columns[i].total()), weights = height(m_columns[i].high[kWeights]);
        painter.fillRect(x, area.bottom() + 1 - all, 1, all, m_theme.faint(m_theme.compute));
        painter.fillRect(x, area.bottom() + 1 - weights, 1, weights, m_theme.compute);
    }

    painter.setPen(m_theme.textMuted);
    const double step = roundStep(run.span().real() * kTickPx / std::max(1, area.width()));
    double free = -1e9;
    for (double t = 0; t <= run.end.real(); t += step) {
        const QString text = timeTickText(t, step, run.end.real());
        const int width = fontMetrics().horizontalAdvance(text);
        const double x = pixelOf(Nanos(static_cast<std::int64_t>(t))) - width / 2.0;
        if (x < free || x + width > this->width())
            continue;
        painter.drawText(
            QRectF(x, area.bottom() + 2, width + 1, fontMetrics().height()), Qt::AlignCenter, text);
        free = x + width + 12;
    }
}

void OverviewStrip::paintWindow(QPainter& painter) {
    const QRect area = strip();
    const TimeState* time = m_data->time();
    const int left = static_cast<int>(std::lround(pixelOf(time->visible().begin)));
    const int right =
        std::max(left + 2, static_cast<int>(std::lround(pixelOf(time->visible().end))));
    painter.fillRect(
        QRect(area.left(), area.top(), left - area.left(), area.height()), m_theme.shade);
    painter.fillRect(
        QRect(right, area.top(), area.right() + 1 - right, area.height()), m_theme.shade);
    if (const auto selection = time->selection()) {
        const double from = pixelOf(selection->begin);
        painter.fillRect(
            QRectF(from, area.top(), std::max(1.0, pixelOf(selection->end) - from), area.height()),
            m_theme.selection);
    }
    for (const TimeNote& note : time->notes()) {
        const double from = pixelOf(note.range.begin);
        painter.fillRect(
            QRectF(from, area.top(), std::max(3.0, pixelOf(note.range.end) - from), 4),
            m_theme.accent);
    }
    if (const auto cursor = time->cursor()) {
        painter.setPen(m_theme.cursor);
        const int x = static_cast<int>(std::lround(pixelOf(*cursor)));
        painter.drawLine(x, area.top(), x, area.bottom());
    }
    painter.setPen(m_theme.accent);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRect(left, area.top(), right - left - 1, area.height() - 1));
    const int grip = area.center().y() - 6;
    painter.fillRect(left - 1, grip, 3, 13, m_theme.accent);
    painter.fillRect(right - 2, grip, 3, 13, m_theme.accent);
}

OverviewStrip::Drag OverviewStrip::handleAt(double x) const {
    const double left = pixelOf(m_data->time()->visible().begin);
    const double right = pixelOf(m_data->time()->visible().end);
    if (std::min(std::abs(x - left), std::abs(x - right)) <= kHandleReach)
        return std::abs(x - left) < std::abs(x - right) ? Drag::Begin : Drag::End;
    if (left < x && x < right && !m_data->time()->showsAll())
        return Drag::Window;
    return Drag::New;
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
    m_drag = handleAt(event->position().x());
    m_anchor = timeAt(event->position().x());
    m_grabbed = m_data->time()->visible();
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
    const double x = event->position().x();
    TimeState* time = m_data->time();
    const Nanos t = timeAt(x);
    switch (m_drag) {
    case Drag::None: {
        const Drag handle = handleAt(x);
        setCursor(
            handle == Drag::Window ? Qt::OpenHandCursor
            : handle == Drag::New  ? Qt::CrossCursor
                                   : Qt::SizeHorCursor);
        break;
    }
    case Drag::Window:
        time->panBy(m_grabbed.begin + (t - m_anchor) - time->visible().begin);
        break;
    case Drag::Begin:
        time->showRange({std::min(t, m_grabbed.end), m_grabbed.end});
        break;
    case Drag::End:
        time->showRange({m_grabbed.begin, std::max(t, m_grabbed.begin)});
        break;
    case Drag::New:
        if (std::abs(x - pixelOf(m_anchor)) >= kHandleReach)
            time->showRange({std::min(t, m_anchor), std::max(t, m_anchor)});
        break;
    }
}

void OverviewStrip::mouseReleaseEvent(QMouseEvent* event) {
    // A click beside the window brings it there.
    if (m_drag == Drag::New && std::abs(event->position().x() - pixelOf(m_anchor)) < kHandleReach)
        m_data->time()->panBy(m_anchor - m_grabbed.begin - Nanos(m_grabbed.span().value / 2));
    m_drag = Drag::None;
}

void OverviewStrip::mouseDoubleClickEvent(QMouseEvent*) {
    m_data->time()->home();
}

void OverviewStrip::wheelEvent(QWheelEvent* event) {
    const double notches = event->angleDelta().y() / 120.0;
    if (notches != 0)
        m_data->time()->zoomAt(timeAt(event->position().x()), std::pow(kZoomStep, notches));
    event->accept();
}

} // namespace shardscope::ui
