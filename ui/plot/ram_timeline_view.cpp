// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/ram_timeline_view.h"

#include <algorithm>
#include <cmath>

#include <qcustomplot.h>

#include "sim_engine/analyze/csv.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::MemoryColumn;
using analyze::RunIndex;
using analyze::ValueColumn;
using base::Bytes;
using base::Nanos;
using model::kRegionCount;
using model::Region;
using trace::CounterKind;

namespace {

/// A budget further above the data than this is told in words, or it would flatten the chart.
constexpr double kFarBudget = 2.5;

} // namespace

RamTimelineView::RamTimelineView(RunData* data, QWidget* parent)
    : TimePlot(data, tr("RAM"), parent) {
    setObjectName(QStringLiteral("plot.ram"));
}

Bytes RamTimelineView::budget() const {
    const trace::Trace* shown = data()->measured() ? data()->measured() : data()->predicted();
    return shown ? shown->legend.budget : Bytes(0);
}

Bytes RamTimelineView::whatIfBudget() const {
    const bool layered = data()->measured() && data()->predicted();
    const Bytes other = layered ? data()->predicted()->legend.budget : Bytes(0);
    return other == budget() ? Bytes(0) : other;
}

double RamTimelineView::wantedTop() const {
    double top = 0;
    for (const RunIndex* index : {data()->measuredIndex(), data()->predictedIndex()})
        if (index)
            top = std::max(
                {top, index->memory().peak().real(),
                 static_cast<double>(index->counter(CounterKind::Rss).peak())});
    for (const Bytes limit : {budget(), whatIfBudget()})
        if (limit.real() <= top * kFarBudget)
            top = std::max(top, limit.real());
    return std::max(top * 1.1, 4096.0);
}

void RamTimelineView::prepare() {
    setValueRange(0, wantedTop());
    const TimeRange v = time()->visible();
    const auto width = static_cast<std::size_t>(std::max(1, plotRect().width()));
    m_columns.clear();
    m_predicted.clear();
    m_rss.clear();
    m_pageCache.clear();
    if (const RunIndex* index = data()->shownIndex()) {
        m_columns = index->memory().columns(v.begin, v.end, width, index->end());
        const auto& rss = index->counter(CounterKind::Rss);
        const auto& cache = index->counter(CounterKind::PageCache);
        if (!rss.empty())
            m_rss = rss.columns(v.begin, v.end, width, index->end());
        if (!cache.empty())
            m_pageCache = cache.columns(v.begin, v.end, width, index->end());
    }
    if (const RunIndex* index = data()->predictedIndex(); index && data()->measured())
        m_predicted = index->memory().columns(v.begin, v.end, width, index->end());
}

double RamTimelineView::yOf(std::int64_t bytes) const {
    return valuePixel(static_cast<double>(bytes));
}

/// Tops are painted over each other from the highest region down; where a top moves within a pixel,
/// what it reaches at times is faint and what it always reaches is full.
void RamTimelineView::paintStack(QPainter& painter) const {
    const QRect area = plotRect();
    const int bottom = static_cast<int>(std::lround(yOf(0)));
    const auto width = static_cast<int>(m_columns.size());
    const auto row = [this](std::int64_t bytes) {
        return static_cast<int>(std::lround(yOf(bytes)));
    };
    for (std::size_t r = kRegionCount; r-- > 0;) {
        const QColor full = theme().region[r], faint = theme().faint(full);
        for (int first = 0; first < width;) {
            const MemoryColumn& c = m_columns[static_cast<std::size_t>(first)];
            if (c.empty || c.high[r] == 0) {
                ++first;
                continue;
            }
            const int high = row(c.high[r]), low = row(c.low[r]);
            int last = first + 1;
            for (; last < width; ++last) {
                const MemoryColumn& d = m_columns[static_cast<std::size_t>(last)];
                const bool same = d.high[r] == c.high[r] && d.low[r] == c.low[r];
                if (d.empty || (!same && (row(d.high[r]) != high || row(d.low[r]) != low)))
                    break;
            }
            if (high < bottom) {
                if (low > high)
                    painter.fillRect(area.left() + first, high, last - first, low - high, faint);
                painter.fillRect(area.left() + first, low, last - first, bottom - low, full);
            }
            first = last;
        }
    }
}

void RamTimelineView::paintLines(QPainter& painter) const {
    const auto lineOf = [this](std::int64_t low, std::int64_t high, bool empty) {
        return LineColumn{yOf(high), yOf(low), empty};
    };
    const auto draw = [&](const std::vector<ValueColumn>& values, QColor colour, LineStyle style) {
        std::vector<LineColumn> line;
        line.reserve(values.size());
        for (const ValueColumn& v : values)
            line.push_back(lineOf(v.low, v.high, v.empty));
        painter.setPen(colour);
        paintLine(painter, plotRect().left(), line, style);
    };
    draw(m_pageCache, theme().textMuted, LineStyle::Solid);
    draw(m_rss, theme().rss, LineStyle::Solid);
    std::vector<LineColumn> ghost;
    ghost.reserve(m_predicted.size());
    for (const MemoryColumn& c : m_predicted)
        ghost.push_back(lineOf(c.high.back(), c.high.back(), c.empty)); // peaks are what counts
    paintGhost(painter, plotRect().left(), ghost, theme().prediction, theme().background);
}

void RamTimelineView::paintBudgetLine(QPainter& painter, const BudgetMark& mark) const {
    const double y = yOf(mark.limit.value);
    if (mark.limit.value <= 0 || y < plotRect().top())
        return;
    const std::vector<LineColumn> line(static_cast<std::size_t>(plotRect().width()), {y, y, false});
    if (mark.style == LineStyle::Dashed) {
        paintGhost(painter, plotRect().left(), line, mark.colour, theme().background);
        return;
    }
    painter.setPen(mark.colour);
    paintLine(painter, plotRect().left(), line, LineStyle::Solid);
}

/// Above its line at the right, or below it, or left of the label that stands there already. A
/// budget beyond the chart is told with an arrow.
QRect RamTimelineView::paintBudgetLabel(
    QPainter& painter, const BudgetMark& mark, const QRect& taken) const {
    if (mark.limit.value <= 0)
        return {};
    const QRect area = plotRect();
    const QFontMetrics metrics(font());
    const int y = static_cast<int>(std::lround(yOf(mark.limit.value)));
    const bool beyond = y < area.top();
    QString text = mark.name + QLatin1Char(' ') + bytesText(mark.limit.value);
    if (beyond)
        text += QStringLiteral(" \u2191");
    const QSize size(metrics.horizontalAdvance(text) + 6, metrics.height());
    const int left = area.right() - size.width() - 2;
    QRect label(QPoint(left, beyond ? area.top() + 2 : y - size.height() - 1), size);
    const QRect below(QPoint(left, y + 2), size);
    const auto fits = [&](const QRect& r) { return area.contains(r) && !r.intersects(taken); };
    if (!fits(label) && fits(below))
        label = below;
    if (!fits(label))
        label.moveTopLeft(
            {taken.isNull() ? left : taken.left() - size.width() - 6,
             std::max(area.top(), label.top())});
    painter.setFont(font());
    painter.setPen(mark.colour);
    painter.fillRect(label, theme().background);
    painter.drawText(label, Qt::AlignCenter, text);
    return label;
}

void RamTimelineView::paintBudgets(QPainter& painter) const {
    const BudgetMark own{budget(), tr("budget"), theme().budget, LineStyle::Solid};
    const BudgetMark other{
        whatIfBudget(), tr("budget (%1)").arg(data()->ghostName()), theme().prediction,
        LineStyle::Dashed};
    paintBudgetLine(painter, own);
    paintBudgetLine(painter, other);
    paintBudgetLabel(painter, other, paintBudgetLabel(painter, own, {}));
}

void RamTimelineView::paintViolation(QPainter& painter) const {
    const RunIndex* index = data()->shownIndex();
    const auto violation = index ? index->firstViolation(budget()) : std::nullopt;
    if (!violation || !time()->visible().contains(violation->time))
        return;
    const QRect area = plotRect();
    const double x = pixelOf(violation->time);
    const double y = std::max<double>(yOf(budget().value), area.top() + 8);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().warning);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.drawPolygon(QPolygonF{QPointF(x, y), QPointF(x - 5, y - 8), QPointF(x + 5, y - 8)});
    painter.setRenderHint(QPainter::Antialiasing, false);
    const QString text = tr("%1 %2, %3 over the budget")
                             .arg(violation->byRss ? tr("RSS") : tr("arena"))
                             .arg(bytesText(violation->bytes.value))
                             .arg(bytesText((violation->bytes - budget()).value));
    const QFontMetrics metrics(font());
    const int width = metrics.horizontalAdvance(text) + 6;
    const double left = std::clamp<double>(x + 8, area.left(), area.right() - width);
    const QRectF label(
        left, std::max<double>(y - metrics.height() - 2, area.top()), width, metrics.height());
    painter.fillRect(label, theme().background);
    painter.setPen(theme().warning);
    painter.drawText(label, Qt::AlignCenter, text);
}

void RamTimelineView::paintContent(QPainter& painter) {
    paintStack(painter);
    paintLines(painter);
    paintBudgets(painter);
    paintViolation(painter);
}

void RamTimelineView::paintHover(QPainter& painter) {
    // The shard or buffer hovered elsewhere: when it was held, as a bar along the time axis.
    const RunIndex* index = data()->shownIndex();
    const Item item = time()->hovered();
    if (!index || (item.kind != Item::Kind::Shard && item.kind != Item::Kind::Buffer))
        return;
    const auto kind =
        item.kind == Item::Kind::Shard ? analyze::LifeKind::Weights : analyze::LifeKind::Buffer;
    const auto* lives = index->arena().livesOf(kind, item.id);
    if (!lives)
        return;
    const QRect area = plotRect();
    const TimeRange v = time()->visible();
    int drawnTo = area.left() - 1;
    for (const std::uint32_t i : *lives) {
        const analyze::Life& life = index->arena().lives()[i];
        if (life.begin > v.end.value)
            break;
        if (life.end < v.begin.value)
            continue;
        const Nanos end(std::min(life.end, index->end().value));
        const int left = std::max(drawnTo + 1, static_cast<int>(pixelOf(Nanos(life.begin))));
        const int right = std::min(area.right(), static_cast<int>(pixelOf(end)));
        if (right < left)
            continue;
        painter.fillRect(left, area.bottom() - 3, right - left + 1, 3, theme().hover);
        drawnTo = right;
    }
}

std::optional<Hit> RamTimelineView::hitAt(QPointF position) const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return std::nullopt;
    const QRect area = plotRect();
    const auto column = static_cast<std::size_t>(
        std::clamp<int>(static_cast<int>(position.x()) - area.left(), 0, area.width() - 1));
    if (column >= m_columns.size() || m_columns[column].empty)
        return std::nullopt;
    const Nanos t = timeAt(position.x());
    const MemoryColumn& c = m_columns[column];
    Hit hit;
    hit.time = t;
    hit.text = momentText(t);
    const auto value = static_cast<std::int64_t>(valueAxis()->pixelToCoord(position.y()));
    const analyze::RegionBytes held = index->memory().regionsAt(t);
    for (std::size_t r = 0; r < kRegionCount; ++r)
        if (value >= 0 && value < c.high[r] && (r == 0 || value >= c.low[r - 1])) {
            hit.text += QStringLiteral("\n%1: %2")
                            .arg(regionText(static_cast<Region>(r)), bytesText(held[r]));
            break;
        }
    hit.text += tr("\narena: %1").arg(bytesText(index->memory().totalAt(t).value));
    if (c.high.back() != c.low.back())
        hit.text += tr(" (%1 \u2026 %2 in this pixel)")
                        .arg(bytesText(c.low.back()), bytesText(c.high.back()));
    if (const auto rss = index->counter(CounterKind::Rss).valueAt(t))
        hit.text += tr("\nRSS: %1").arg(bytesText(*rss));
    if (const auto cache = index->counter(CounterKind::PageCache).valueAt(t))
        hit.text += tr("\npage cache: %1").arg(bytesText(*cache));
    if (const RunIndex* other = data()->predictedIndex(); other && data()->measured())
        hit.text += QStringLiteral("\n%1: %2")
                        .arg(data()->ghostName(), bytesText(other->memory().totalAt(t).value));
    return hit;
}

Nanos RamTimelineView::momentShown() const {
    const RunIndex* index = data()->shownIndex();
    return time()->cursor().value_or(index ? index->end() : Nanos(0));
}

std::vector<HeaderChip> RamTimelineView::headerChips() const {
    std::vector<HeaderChip> chips;
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return chips;
    const Nanos t = momentShown();
    const analyze::RegionBytes held = index->memory().regionsAt(t);
    const auto used = index->memory().used();
    for (std::size_t r = 0; r < kRegionCount; ++r)
        if (used[r])
            chips.push_back(
                {HeaderChip::Mark::Fill, theme().region[r], regionText(static_cast<Region>(r)),
                 bytesText(held[r])});
    if (const auto& rss = index->counter(CounterKind::Rss); !rss.empty())
        chips.push_back(
            {HeaderChip::Mark::Line, theme().rss, tr("RSS"),
             bytesText(rss.valueAt(t).value_or(0))});
    if (data()->predicted() && data()->measured())
        chips.push_back(
            {HeaderChip::Mark::Dashes, theme().prediction, data()->ghostName(),
             bytesText(data()->predictedIndex()->memory().totalAt(t).value)});
    return chips;
}

QString RamTimelineView::changeOver(TimeRange range) const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return {};
    const auto& memory = index->memory();
    return tr("%1, peak %2")
        .arg(signedBytesText((memory.totalAt(range.end) - memory.totalAt(range.begin)).value))
        .arg(bytesText(memory.peakWithin(range.begin, range.end).value));
}

std::string
RamTimelineView::csvOf(const RunIndex& index, const trace::Legend&, TimeRange range) const {
    return analyze::memoryCsv(index, range.begin, range.end);
}

} // namespace shardscope::ui
