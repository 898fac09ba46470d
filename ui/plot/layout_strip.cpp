// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/layout_strip.h"

#include <algorithm>
#include <cmath>

#include <QMouseEvent>
#include <QPainter>

#include "ui/plot/hover_card.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::LayoutSegment;
using analyze::Life;
using analyze::LifeKind;
using base::Nanos;

namespace {

constexpr int kNarrowest = 3;
constexpr int kPadding = 5;

} // namespace

LayoutStrip::LayoutStrip(RunData* data, QWidget* parent)
    : QWidget(parent), m_data(data), m_theme(Theme::light()) {
    setObjectName(QStringLiteral("plot.layout"));
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    TimeState* time = data->time();
    connect(data, &RunData::measuredChanged, this, &LayoutStrip::refresh);
    connect(data, &RunData::predictedChanged, this, &LayoutStrip::refresh);
    connect(time, &TimeState::cursorChanged, this, &LayoutStrip::refresh);
    connect(time, &TimeState::hoverChanged, this, &LayoutStrip::refresh);
}

void LayoutStrip::setTheme(const Theme& theme) {
    m_theme = theme;
    update();
}

int LayoutStrip::barHeight() const {
    return 2 * fontMetrics().height() + 5;
}

QSize LayoutStrip::sizeHint() const {
    return {900, barHeight() + fontMetrics().height() + 12};
}
QSize LayoutStrip::minimumSizeHint() const {
    return {320, sizeHint().height()};
}

Nanos LayoutStrip::momentShown() const {
    const analyze::RunIndex* index = m_data->shownIndex();
    return m_data->time()->cursor().value_or(index ? index->end() : Nanos(0));
}

void LayoutStrip::refresh() {
    m_stale = true; // whoever paints before the next frame must not look up what is gone
    m_data->frames()->request(this, [this] { update(); });
}

void LayoutStrip::layOut() {
    m_stale = false;
    m_cells.clear();
    const analyze::RunIndex* index = m_data->shownIndex();
    if (!index)
        return;
    const auto segments = index->arena().layoutAt(momentShown(), index->arenaBytes());
    const QMargins margins = plotMargins(fontMetrics(), false);
    const QRect area(8, fontMetrics().height() + 6, width() - 8 - margins.right(), barHeight());
    const int count = static_cast<int>(segments.size());
    if (count == 0 || area.width() < count * kNarrowest)
        return;
    // Each gets its least width; the rest of the room is shared by size.
    double total = 0;
    for (const LayoutSegment& s : segments)
        total += static_cast<double>(s.bytes);
    const double room = area.width() - count * kNarrowest;
    double x = area.left();
    for (const LayoutSegment& s : segments) {
        const double next = x + kNarrowest + room * static_cast<double>(s.bytes) / total;
        const int left = static_cast<int>(std::lround(x));
        m_cells.push_back(
            {s,
             QRect(left, area.top(), static_cast<int>(std::lround(next)) - left, area.height())});
        x = next;
    }
}

void LayoutStrip::resizeEvent(QResizeEvent*) {
    layOut();
}

const Life& LayoutStrip::lifeOf(const Cell& cell) const {
    return m_data->shownIndex()->arena().lives()[cell.segment.life];
}

QString LayoutStrip::nameOf(const Cell& cell) const {
    if (cell.segment.isFree())
        return tr("free");
    const trace::Trace* shown = m_data->measured() ? m_data->measured() : m_data->predicted();
    const std::string_view name = analyze::lifeName(lifeOf(cell), shown->legend);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

Item LayoutStrip::itemOf(const Cell& cell) const {
    if (cell.segment.isFree())
        return {};
    const Life& life = lifeOf(cell);
    return {life.kind == LifeKind::Weights ? Item::Kind::Shard : Item::Kind::Buffer, life.id};
}

void LayoutStrip::paintCell(QPainter& painter, const Cell& cell) const {
    const bool free = cell.segment.isFree();
    const QColor fill = free ? m_theme.freeSpace : m_theme.of(lifeOf(cell).region);
    const QRect inner = cell.rect.adjusted(0, 0, -1, 0);
    painter.fillRect(inner, fill);
    const Item hovered = m_data->time()->hovered();
    if (hovered.valid() && hovered == itemOf(cell)) {
        painter.setPen(m_theme.hover);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(inner.adjusted(0, 0, -1, -1));
    }
}

void LayoutStrip::paintEvent(QPaintEvent*) {
    if (m_stale)
        layOut();
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.background);
    const QRect head(8, 3, width() - 16, fontMetrics().height());
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(m_theme.text);
    const QString title = tr("Layout");
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, title);
    const int after = QFontMetrics(bold).horizontalAdvance(title) + 14;
    painter.setFont(font());
    painter.setPen(m_theme.textMuted);
    const analyze::RunIndex* index = m_data->shownIndex();
    if (!index) {
        painter.drawText(
            head.adjusted(after, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
            tr("what lies in the arena, once there is a run"));
        return;
    }
    painter.drawText(
        head.adjusted(after, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
        tr("at %1: %2 of %3 held")
            .arg(momentText(momentShown()))
            .arg(bytesText(index->memory().totalAt(momentShown()).value))
            .arg(bytesText(index->arenaBytes().value)));
    for (const Cell& cell : m_cells)
        paintCell(painter, cell);
    paintLabels(painter);
}

/// Cells that are wide enough are named one by one; neighbours of one region that are not are named
/// together.
void LayoutStrip::paintLabels(QPainter& painter) const {
    const QFontMetrics metrics(font());
    const auto isNarrow = [&](const Cell& cell) {
        return metrics.horizontalAdvance(nameOf(cell)) + 2 * kPadding > cell.rect.width();
    };
    for (std::size_t first = 0; first < m_cells.size();) {
        std::size_t last = first + 1;
        QRect all = m_cells[first].rect;
        std::int64_t bytes = m_cells[first].segment.bytes;
        if (isNarrow(m_cells[first]) && !m_cells[first].segment.isFree()) {
            const model::Region region = lifeOf(m_cells[first]).region;
            for (; last < m_cells.size() && !m_cells[last].segment.isFree() &&
                   lifeOf(m_cells[last]).region == region && isNarrow(m_cells[last]);
                 ++last) {
                bytes += m_cells[last].segment.bytes;
                all |= m_cells[last].rect;
            }
        }
        const bool group = last - first > 1;
        paintLabel(
            painter, m_cells[first], all.adjusted(0, 0, -1, 0),
            group ? QStringLiteral("%1 %2")
                        .arg(last - first)
                        .arg(regionText(lifeOf(m_cells[first]).region))
                  : nameOf(m_cells[first]),
            bytes, group);
        first = last;
    }
}

void LayoutStrip::paintLabel(
    QPainter& painter, const Cell& cell, const QRect& rect, const QString& name, std::int64_t bytes,
    bool group) const {
    const QFontMetrics metrics(font());
    const int room = rect.width() - 2 * kPadding;
    const QString size = bytesText(bytes);
    const QString shown = metrics.elidedText(name, Qt::ElideRight, room);
    if (shown != name && room < metrics.averageCharWidth() * 5)
        return;
    const QColor fill = cell.segment.isFree() ? m_theme.freeSpace : m_theme.of(lifeOf(cell).region);
    const bool sized = metrics.horizontalAdvance(size) <= room;
    const QRect upper(rect.left() + kPadding, rect.top() + 2, room, metrics.height());
    if (group) // the borders between its cells would cross the text
        painter.fillRect(
            upper.left(), upper.top(),
            std::max(metrics.horizontalAdvance(shown), metrics.horizontalAdvance(size)) + 2,
            2 * metrics.height(), fill);
    painter.setPen(cell.segment.isFree() ? m_theme.textMuted : Theme::textOn(fill));
    painter.drawText(upper, Qt::AlignLeft | Qt::AlignVCenter, shown);
    if (sized)
        painter.drawText(
            upper.translated(0, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter, size);
}

const LayoutStrip::Cell* LayoutStrip::cellAt(QPoint position) const {
    if (m_stale)
        return nullptr;
    const auto it = std::find_if(m_cells.begin(), m_cells.end(), [position](const Cell& cell) {
        return cell.rect.contains(position);
    });
    return it == m_cells.end() ? nullptr : &*it;
}

void LayoutStrip::mouseMoveEvent(QMouseEvent* event) {
    const Cell* cell = cellAt(event->position().toPoint());
    m_data->time()->setHovered(cell ? itemOf(*cell) : Item{});
    QString text;
    if (cell) {
        text = nameOf(*cell) + QLatin1Char('\n') + bytesText(cell->segment.bytes) +
               tr(" at offset %1").arg(bytesText(cell->segment.offset));
        if (!cell->segment.isFree())
            text += QLatin1Char('\n') + regionText(lifeOf(*cell).region);
    }
    HoverCard::of(this)->show(m_theme, event->globalPosition().toPoint(), text);
}

void LayoutStrip::mousePressEvent(QMouseEvent* event) {
    const Cell* cell = cellAt(event->position().toPoint());
    if (!cell || cell->segment.isFree())
        return;
    const Life& life = lifeOf(*cell);
    const QString why = life.kind == LifeKind::Weights
                            ? QString::fromStdString(m_data->shownIndex()->whyLoaded(
                                  base::ShardId(life.id), Nanos(life.begin)))
                            : QString();
    emit itemActivated(itemOf(*cell), Nanos(life.begin), why);
}

void LayoutStrip::leaveEvent(QEvent*) {
    m_data->time()->setHovered({});
    HoverCard::dismiss(this);
}

} // namespace shardscope::ui
