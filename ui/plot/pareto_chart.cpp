// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/pareto_chart.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/plot/picture_file.h"
#include "ui/plot/plot_text.h"
#include "ui/plot/tick_text.h"

namespace shardscope::ui {
namespace {

constexpr int kRadius = 4;
constexpr double kReach = 14;     ///< px from a point that still mean it
constexpr double kLogFrom = 12;   ///< slowest over fastest from which the scale is logarithmic
constexpr double kFarLimit = 1.6; ///< a limit further out than this is told in words
constexpr int kByteTickPx = 64, kTimeTickPx = 34;

/// "0", "50 ms", "2 s": ticks are round, so they need no decimals that are none.
QString tickText(double ms) {
    if (ms <= 0)
        return QStringLiteral("0");
    return spanText(base::Nanos(std::llround(ms * 1e6)))
        .remove(QStringLiteral(".00"))
        .replace(QStringLiteral(".0 "), QStringLiteral(" "));
}

} // namespace

ParetoChart::ParetoChart(QWidget* parent) : QWidget(parent), m_theme(Theme::light()) {
    setObjectName(QStringLiteral("plot.pareto"));
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Peak memory against time a token"));
}

void ParetoChart::setTheme(const Theme& theme) {
    m_theme = theme;
    update();
}

void ParetoChart::setFront(std::vector<ParetoPoint> front) {
    if (front == m_front)
        return;
    m_front = std::move(front);
    fitScales();
    mark(-1);
    update();
}

void ParetoChart::setCurrent(std::optional<ParetoPoint> point) {
    if (point == m_current)
        return;
    m_current = point;
    fitScales();
    update();
}

void ParetoChart::setBaseline(std::optional<ParetoPoint> point) {
    if (point == m_baseline)
        return;
    m_baseline = point;
    fitScales();
    update();
}

void ParetoChart::setLimit(double bytes) {
    if (bytes == m_limit)
        return;
    m_limit = bytes;
    fitScales();
    update();
}

void ParetoChart::setHint(const QString& text) {
    m_hint = text;
    update();
}

void ParetoChart::setErrors(double bytesShare, double msShare) {
    m_bytesError = bytesShare;
    m_msError = msShare;
    update();
}

double ParetoChart::Scale::share(double value) const {
    if (logarithmic)
        return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
}

void ParetoChart::fitScales() {
    std::vector<ParetoPoint> all = m_front;
    for (const auto& extra : {m_current, m_baseline})
        if (extra)
            all.push_back(*extra);
    if (all.empty())
        return;
    const auto [least, most] = std::minmax_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    const auto [fast, slow] = std::minmax_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.ms < b.ms; });
    double right = most->bytes;
    if (m_limit > 0 && m_limit < right * kFarLimit)
        right = std::max(right, m_limit);
    const double width = std::max(right - least->bytes, right * 0.05);
    m_bytes = {std::max(0.0, least->bytes - width * 0.08), right + width * 0.08, false};
    m_ms.logarithmic = fast->ms > 0 && slow->ms > fast->ms * kLogFrom;
    if (m_ms.logarithmic) {
        m_ms.low = fast->ms / 1.5;
        m_ms.high = slow->ms * 1.5;
    } else {
        m_ms.low = 0;
        m_ms.high = std::max(slow->ms * 1.12, 1e-3);
    }
}

QRect ParetoChart::area() const {
    const QFontMetrics metrics(font());
    const int left = metrics.horizontalAdvance(QStringLiteral("000 ms")) + 12;
    return rect().adjusted(left, metrics.height() + 8, -12, -2 * metrics.height() - 10);
}

QPointF ParetoChart::placeOf(const ParetoPoint& point) const {
    const QRect a = area();
    return {
        a.left() + m_bytes.share(point.bytes) * a.width(),
        a.bottom() - m_ms.share(point.ms) * a.height()};
}

std::vector<double> ParetoChart::timeTicks() const {
    std::vector<double> ticks;
    if (m_ms.logarithmic) {
        for (double decade = std::pow(10, std::floor(std::log10(m_ms.low))); decade < m_ms.high;
             decade *= 10)
            for (const double digit : {1, 2, 5})
                if (decade * digit >= m_ms.low && decade * digit <= m_ms.high)
                    ticks.push_back(decade * digit);
        return ticks;
    }
    const double step = roundStep(m_ms.high * kTimeTickPx / std::max(1, area().height()));
    for (double at = 0; at <= m_ms.high; at += step)
        ticks.push_back(at);
    return ticks;
}

void ParetoChart::paintAxes(QPainter& painter) const {
    const QRect a = area();
    const QFontMetrics metrics(font());
    painter.setFont(font());
    const std::vector<double> ticks = timeTicks();
    int free = height();
    for (const double tick : ticks) {
        const int y = static_cast<int>(std::lround(placeOf({m_bytes.low, tick}).y()));
        painter.setPen(m_theme.grid);
        painter.drawLine(a.left(), y, a.right(), y);
        if (free - y < metrics.height())
            continue;
        free = y;
        painter.setPen(m_theme.textMuted);
        painter.drawText(
            QRect(0, y - metrics.height() / 2, a.left() - 6, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, tickText(tick));
    }
    const double span = m_bytes.high - m_bytes.low;
    const double step = roundByteStep(span * kByteTickPx / std::max(1, a.width()));
    for (double at = std::ceil(m_bytes.low / step) * step; at <= m_bytes.high; at += step) {
        const int x = static_cast<int>(std::lround(placeOf({at, m_ms.low}).x()));
        painter.setPen(m_theme.grid);
        painter.drawLine(x, a.top(), x, a.bottom());
        painter.setPen(m_theme.textMuted);
        const QString text = byteTickText(at, step, m_bytes.high);
        const int width = metrics.horizontalAdvance(text) + 4;
        const int left = std::clamp(x - width / 2, 0, this->width() - width);
        painter.drawText(
            QRect(left, a.bottom() + 3, width, metrics.height()), Qt::AlignCenter, text);
    }
    painter.setPen(m_theme.axis);
    painter.drawLine(a.bottomLeft(), a.bottomRight());
    painter.setPen(m_theme.textMuted);
    painter.drawText(
        QRect(a.left(), height() - metrics.height() - 2, a.width(), metrics.height()),
        Qt::AlignRight | Qt::AlignVCenter, tr("peak RAM"));
    painter.drawText(
        QRect(4, 2, width() - 8, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
        tr("time a token"));
}

void ParetoChart::paintLimit(QPainter& painter) const {
    if (m_limit <= 0)
        return;
    const QRect a = area();
    const QFontMetrics metrics(font());
    const double x = placeOf({m_limit, m_ms.low}).x();
    const bool beyond = x > a.right();
    QString text = tr("limit %1").arg(bytesText(std::llround(m_limit)));
    if (beyond)
        text += QStringLiteral(" \u2192");
    painter.setPen(m_theme.budget);
    if (!beyond && x >= a.left())
        painter.drawLine(QPointF(x, a.top()), QPointF(x, a.bottom()));
    const int width = metrics.horizontalAdvance(text) + 4;
    const double left = std::clamp<double>(
        beyond ? a.right() : x - width / 2.0, a.left() + 84.0, a.right() - width);
    painter.drawText(
        QRectF(left, 2, width, metrics.height()), Qt::AlignRight | Qt::AlignVCenter, text);
}

void ParetoChart::paintFront(QPainter& painter) const {
    if (m_front.empty())
        return;
    // Between two points the one with less memory is the best that fits.
    QPolygonF stair;
    for (const ParetoPoint& point : m_front) {
        const QPointF at = placeOf(point);
        if (!stair.isEmpty())
            stair << QPointF(at.x(), stair.back().y());
        stair << at;
    }
    painter.setPen(m_theme.faint(m_theme.accent));
    painter.drawPolyline(stair);
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < m_front.size(); ++i) {
        const bool marked = static_cast<int>(i) == m_marked;
        const double r = marked ? kRadius + 2 : kRadius;
        painter.setPen(marked ? QPen(m_theme.text, 1) : QPen(Qt::NoPen));
        painter.setBrush(m_theme.accent);
        painter.drawEllipse(placeOf(m_front[i]), r, r);
    }
}

void ParetoChart::paintMarks(QPainter& painter) const {
    painter.setBrush(Qt::NoBrush);
    if (m_baseline && m_baseline != m_current) {
        // A square for what was run, a ring for the settings as they are.
        const QPointF at = placeOf(*m_baseline);
        painter.setPen(QPen(m_theme.textMuted, 2));
        painter.drawRect(QRectF(at.x() - 5, at.y() - 5, 10, 10));
    }
    if (!m_current)
        return;
    const QPointF at = placeOf(*m_current);
    painter.setPen(QPen(m_theme.prediction, 2));
    painter.drawEllipse(at, kRadius + 4, kRadius + 4);
    painter.setPen(m_theme.prediction);
    const auto whisker = [&](const ParetoPoint& from, const ParetoPoint& to) {
        painter.drawLine(placeOf(from), placeOf(to));
    };
    if (m_msError > 0)
        whisker(
            {m_current->bytes, m_current->ms * (1 - m_msError)},
            {m_current->bytes, m_current->ms * (1 + m_msError)});
    if (m_bytesError > 0)
        whisker(
            {m_current->bytes * (1 - m_bytesError), m_current->ms},
            {m_current->bytes * (1 + m_bytesError), m_current->ms});
}

void ParetoChart::paint(QPainter& painter) {
    painter.fillRect(rect(), m_theme.background);
    if (!m_front.empty() || m_current) {
        paintAxes(painter);
        painter.save();
        painter.setClipRect(area().adjusted(-12, -12, 12, 12));
        paintFront(painter);
        paintMarks(painter);
        painter.restore();
        paintLimit(painter);
    }
    if (m_front.empty() && !m_hint.isEmpty()) {
        painter.setPen(m_theme.textMuted);
        painter.drawText(
            area().adjusted(10, 10, -10, -10), Qt::AlignCenter | Qt::TextWordWrap, m_hint);
    }
    if (hasFocus()) {
        painter.setPen(m_theme.accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void ParetoChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter);
}

bool ParetoChart::exportTo(const QString& path) {
    return savePicture(
        path, size(), devicePixelRatioF(), tr("Memory against time"),
        [this](QPainter& painter) { paint(painter); });
}

int ParetoChart::pointAt(QPointF position) const {
    int best = -1;
    double distance = kReach;
    for (std::size_t i = 0; i < m_front.size(); ++i) {
        const QPointF d = placeOf(m_front[i]) - position;
        if (const double here = std::hypot(d.x(), d.y()); here < distance) {
            distance = here;
            best = static_cast<int>(i);
        }
    }
    return best;
}

void ParetoChart::mark(int index) {
    if (std::exchange(m_marked, index) == index)
        return;
    update();
    emit pointMarked(index);
}

void ParetoChart::mouseMoveEvent(QMouseEvent* event) {
    mark(pointAt(event->position()));
    setCursor(m_marked >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void ParetoChart::mousePressEvent(QMouseEvent* event) {
    const int index = pointAt(event->position());
    if (event->button() != Qt::LeftButton || index < 0)
        return QWidget::mousePressEvent(event);
    mark(index);
    emit pointChosen(index);
}

void ParetoChart::leaveEvent(QEvent*) {
    mark(-1);
}

void ParetoChart::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(m_front.size());
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (count > 0)
            mark(std::clamp(
                m_marked < 0 ? 0 : m_marked + (event->key() == Qt::Key_Right ? 1 : -1), 0,
                count - 1));
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        if (m_marked >= 0)
            emit pointChosen(m_marked);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void ParetoChart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        update();
}

} // namespace shardscope::ui
