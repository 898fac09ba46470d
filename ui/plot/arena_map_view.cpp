// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/arena_map_view.h"

#include <algorithm>
#include <cmath>

#include <qcustomplot.h>

#include "sim_engine/analyze/csv.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::Life;
using analyze::LifeKind;
using analyze::LifeMark;
using analyze::RunIndex;
using base::Nanos;

namespace {

constexpr int kShortestPx = 3;
constexpr int kLabelPadding = 4;
constexpr int kTickHeight = 4;
constexpr int kLowest = 12, kNarrowest = 24; ///< px of a rectangle with a label

QString nameOf(const Life& life, const trace::Legend& legend) {
    const std::string_view name = analyze::lifeName(life, legend);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

Item itemOf(const Life& life) {
    return {life.kind == LifeKind::Weights ? Item::Kind::Shard : Item::Kind::Buffer, life.id};
}

} // namespace

ArenaMapView::ArenaMapView(RunData* data, QWidget* parent) : TimePlot(data, tr("Arena"), parent) {
    setObjectName(QStringLiteral("plot.arena"));
}

const trace::Legend* ArenaMapView::legend() const {
    const trace::Trace* shown = data()->measured() ? data()->measured() : data()->predicted();
    return shown ? &shown->legend : nullptr;
}

void ArenaMapView::prepare() {
    m_marks.clear();
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return;
    setValueRange(0, std::max(4096.0, index->arenaBytes().real()));
    const TimeRange v = time()->visible();
    m_marks = index->arena().marks(v.begin, v.end, timePerPixel() * kShortestPx, index->end());
}

QRect ArenaMapView::rectOf(
    std::int64_t begin, std::int64_t end, std::int64_t offset, std::int64_t bytes) const {
    const QRect area = plotRect();
    const auto clampX = [&area](double x) {
        return static_cast<int>(
            std::lround(std::clamp<double>(x, area.left() - 2, area.right() + 3)));
    };
    const int left = clampX(pixelOf(Nanos(begin)));
    const int right = std::max(left + 1, clampX(pixelOf(Nanos(end))));
    const auto y = [this](std::int64_t at) {
        return static_cast<int>(std::lround(valuePixel(static_cast<double>(at))));
    };
    const int bottom = y(offset), top = std::min(bottom - 1, y(offset + bytes));
    return {left, top, right - left, bottom - top};
}

QRect ArenaMapView::rectOf(const LifeMark& mark) const {
    return rectOf(mark.begin, mark.end, mark.offset, mark.maxBytes);
}

void ArenaMapView::paintLabel(QPainter& painter, const LifeMark& mark, const QRect& rect) const {
    const QRect seen = rect.intersected(plotRect());
    if (seen.height() < kLowest || seen.width() < kNarrowest)
        return;
    QFont face = font();
    if (seen.height() < QFontMetrics(face).height())
        face.setPixelSize(seen.height() - 3);
    const QFontMetrics metrics(face);
    const Life& life = data()->shownIndex()->arena().lives()[mark.first];
    const int room = seen.width() - 2 * kLabelPadding;
    const QString name = nameOf(life, *legend());
    QString text = name + QStringLiteral("  ") + bytesText(life.bytes);
    if (metrics.horizontalAdvance(text) > room)
        text = name;
    if (metrics.horizontalAdvance(text) > room)
        text = metrics.elidedText(name, Qt::ElideRight, room);
    if (text.size() < 4 && text != name)
        return;
    painter.setFont(face);
    painter.setPen(Theme::textOn(theme().of(life.region)));
    painter.drawText(
        seen.adjusted(kLabelPadding, 0, -kLabelPadding, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
}

/// How many lives a stretch of merged marks stands for, where there is room to say it.
void ArenaMapView::paintCounts(QPainter& painter) const {
    const QFontMetrics metrics(painter.font());
    const std::vector<Life>& lives = data()->shownIndex()->arena().lives();
    for (std::size_t first = 0; first < m_marks.size();) {
        QRect all = rectOf(m_marks[first]);
        std::uint32_t count = 0;
        std::size_t last = first;
        for (; last < m_marks.size() && m_marks[last].count > 1 &&
               m_marks[last].offset == m_marks[first].offset;
             ++last) {
            count += m_marks[last].count;
            all |= rectOf(m_marks[last]);
        }
        const QRect seen = all.intersected(plotRect());
        const Life& life = lives[m_marks[first].first];
        const std::string_view region = model::regionName(life.region);
        const QString text =
            countText(count) + QLatin1Char(' ') +
            QString::fromUtf8(region.data(), static_cast<qsizetype>(region.size()));
        if (count > 0 && seen.height() >= metrics.height() - 2 &&
            seen.width() >= metrics.horizontalAdvance(text) + 4 * kLabelPadding) {
            painter.setPen(theme().text);
            painter.drawText(
                seen.adjusted(kLabelPadding, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
        }
        first = std::max(last, first + 1);
    }
}

void ArenaMapView::paintContent(QPainter& painter) {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return;
    const QRect area = plotRect();
    const int x = static_cast<int>(pixelOf(Nanos(0)));
    const int end = std::min(area.right() + 1, static_cast<int>(pixelOf(index->end())));
    const QRect arena = rectOf(0, 0, 0, index->arenaBytes().value);
    painter.fillRect(
        QRect(
            std::max(x, area.left()), arena.top(), end - std::max(x, area.left()), arena.height()),
        theme().freeSpace);

    const std::vector<Life>& lives = index->arena().lives();
    for (std::size_t i = 0; i < m_marks.size(); ++i) {
        const LifeMark& mark = m_marks[i];
        const QColor& colour = theme().of(lives[mark.first].region);
        QRect rect = rectOf(mark);
        if (mark.count == 1) {
            // A gap of a pixel tells neighbours apart.
            const int right = rect.width() > 3 ? 1 : 0, above = rect.height() > 3 ? 1 : 0;
            painter.fillRect(rect.adjusted(0, above, -right, 0), colour);
            continue;
        }
        if (i + 1 < m_marks.size() && m_marks[i + 1].offset == mark.offset) {
            const int next = rectOf(m_marks[i + 1]).left();
            if (next - rect.right() <= kShortestPx)
                rect.setRight(std::max(rect.right(), next - 1));
        }
        painter.fillRect(rect.adjusted(0, rect.height() > 3 ? 1 : 0, 0, 0), theme().faint(colour));
    }
    painter.setFont(font());
    for (const LifeMark& mark : m_marks)
        if (mark.count == 1)
            paintLabel(painter, mark, rectOf(mark));
    painter.setFont(font());
    paintCounts(painter);
}

void ArenaMapView::paintHover(QPainter& painter) {
    const RunIndex* index = data()->shownIndex();
    Item item = time()->hovered();
    if (!index || !legend())
        return;
    if (item.kind == Item::Kind::Op && item.id < legend()->ops.size())
        item = {Item::Kind::Shard, legend()->ops[item.id].shard};
    if (item.kind != Item::Kind::Shard && item.kind != Item::Kind::Buffer)
        return;
    const auto kind = item.kind == Item::Kind::Shard ? LifeKind::Weights : LifeKind::Buffer;
    const auto* own = index->arena().livesOf(kind, item.id);
    if (!own)
        return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(theme().hover);
    const TimeRange v = time()->visible();
    int drawnTo = plotRect().left() - 10;
    for (const std::uint32_t i : *own) {
        const Life& life = index->arena().lives()[i];
        if (life.begin > v.end.value)
            break;
        if (life.end < v.begin.value)
            continue;
        const QRect rect =
            rectOf(life.begin, std::min(life.end, index->end().value), life.offset, life.bytes);
        if (rect.right() <= drawnTo)
            continue; // many lives in one pixel look like one
        if (rect.width() > kShortestPx)
            painter.drawRect(rect.adjusted(0, 0, -1, -1));
        else // outlines side by side would be a bar code
            painter.fillRect(
                rect.left(), rect.bottom() - kTickHeight + 1, 1, kTickHeight, theme().hover);
        drawnTo = rect.right();
    }
}

std::optional<Hit> ArenaMapView::hitAt(QPointF position) const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return std::nullopt;
    const QPoint at = position.toPoint();
    const auto found = std::find_if(m_marks.rbegin(), m_marks.rend(), [&](const LifeMark& mark) {
        return rectOf(mark).contains(at);
    });
    const Nanos t = timeAt(position.x());
    if (found == m_marks.rend())
        return std::nullopt;
    const Life& life = index->arena().lives()[found->first];
    Hit hit;
    hit.time = Nanos(found->begin);
    hit.fit = TimeRange{Nanos(found->begin), Nanos(found->end)};
    if (found->count > 1) {
        hit.item = itemOf(life);
        hit.text = tr("%1 at offset %2").arg(countText(found->count), bytesText(found->offset)) +
                   QLatin1Char('\n') + regionText(life.region) +
                   tr("\n%1 \u2026 %2, held %3")
                       .arg(bytesText(found->minBytes), bytesText(found->maxBytes))
                       .arg(rangeText(Nanos(found->minDuration), Nanos(found->maxDuration))) +
                   tr("\nat %1").arg(momentText(t));
        return hit;
    }
    hit.item = itemOf(life);
    hit.text = nameOf(life, *legend()) + QLatin1Char('\n') + regionText(life.region) +
               QStringLiteral(", ") + bytesText(life.bytes) +
               tr(" at offset %1").arg(bytesText(life.offset)) +
               tr("\nfrom %1, held %2")
                   .arg(momentText(Nanos(life.begin)), spanText(Nanos(found->maxDuration)));
    if (life.kind == LifeKind::Weights) {
        hit.activation =
            QString::fromStdString(index->whyLoaded(base::ShardId(life.id), Nanos(life.begin)));
        hit.text += QLatin1Char('\n') + hit.activation;
    }
    return hit;
}

std::vector<HeaderChip> ArenaMapView::headerChips() const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return {};
    const Nanos t = time()->cursor().value_or(index->end());
    const std::int64_t held = index->memory().totalAt(t).value;
    return {
        {HeaderChip::Mark::Fill, theme().freeSpace.darker(theme().isDark ? 60 : 108), tr("free"),
         bytesText(std::max<std::int64_t>(0, index->arenaBytes().value - held))}};
}

std::string
ArenaMapView::csvOf(const RunIndex& index, const trace::Legend& legend, TimeRange range) const {
    return analyze::arenaCsv(index, legend, range.begin, range.end);
}

} // namespace shardscope::ui
