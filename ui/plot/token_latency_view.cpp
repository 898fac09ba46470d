// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/token_latency_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <qcustomplot.h>

#include "sim_engine/analyze/csv.h"
#include "ui/plot/axis_ticks.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::Percentiles;
using analyze::RunIndex;
using analyze::TokenBar;
using analyze::TokenMark;
using base::Nanos;

namespace {

constexpr int kShortestPx = 3;
constexpr int kWideBar = 24; ///< px

struct Part {
    std::int64_t TokenBar::*time;
    QColor Theme::*colour;
};
constexpr std::array<Part, 4> kParts{
    {{&TokenBar::compute, &Theme::compute},
     {&TokenBar::read, &Theme::read},
     {&TokenBar::stall, &Theme::stall},
     {&TokenBar::other, &Theme::other}}};

} // namespace

TokenLatencyView::TokenLatencyView(RunData* data, QWidget* parent)
    : TimePlot(data, tr("Tokens"), parent) {
    setObjectName(QStringLiteral("plot.tokens"));
    valueAxis()->setTicker(QSharedPointer<QCPAxisTicker>(new TimeTicker));
}

double TokenLatencyView::wantedTop() const {
    std::int64_t steps = 0, any = 0;
    for (const RunIndex* index : {data()->measuredIndex(), data()->predictedIndex()}) {
        if (!index)
            continue;
        for (const TokenBar& bar : index->tokens().bars()) {
            any = std::max(any, bar.total());
            if (!bar.first)
                steps = std::max(steps, bar.total());
        }
    }
    return std::max(1e3, 1.18 * static_cast<double>(steps > 0 ? steps : any));
}

void TokenLatencyView::prepare() {
    m_marks.clear();
    m_predicted.clear();
    m_percentiles = {};
    setValueRange(0, wantedTop());
    const TimeRange v = time()->visible();
    const Nanos shortest = timePerPixel() * kShortestPx;
    if (const RunIndex* index = data()->shownIndex()) {
        m_marks = index->tokens().marks(v.begin, v.end, shortest);
        m_percentiles = index->tokens().percentiles(v.begin, v.end);
    }
    if (const RunIndex* index = data()->predictedIndex(); index && data()->measured())
        m_predicted = index->tokens().marks(v.begin, v.end, shortest);
}

QRect TokenLatencyView::rectOf(const TokenMark& mark, std::int64_t from, std::int64_t to) const {
    const QRect area = plotRect();
    const auto x = [&](std::int64_t t) {
        return static_cast<int>(
            std::lround(std::clamp<double>(pixelOf(Nanos(t)), area.left() - 2, area.right() + 3)));
    };
    const auto y = [&](std::int64_t t) {
        return static_cast<int>(
            std::lround(std::max<double>(valuePixel(static_cast<double>(t)), area.top() - 2)));
    };
    const int left = x(mark.begin), top = y(to);
    // A gap of a pixel between bars where they are wide enough to have one.
    const int width = std::max(1, x(mark.end) - left);
    return {left, top, width > 5 ? width - 1 : width, y(from) - top};
}

void TokenLatencyView::paintBars(QPainter& painter) const {
    const auto& bars = data()->shownIndex()->tokens().bars();
    for (const TokenMark& mark : m_marks) {
        const TokenBar& bar = bars[mark.slowest];
        std::int64_t from = 0;
        for (const Part& part : kParts) {
            const std::int64_t to = from + bar.*part.time;
            if (to > from)
                painter.fillRect(rectOf(mark, from, to), theme().*part.colour);
            from = to;
        }
        if (bar.first && plotRect().top() > rectOf(mark, 0, bar.total()).top() &&
            rectOf(mark, 0, 1).width() > 6) {
            painter.setPen(Theme::textOn(theme().compute));
            painter.drawText(
                rectOf(mark, 0, bar.total()).intersected(plotRect()).adjusted(3, 2, 0, 0),
                Qt::AlignLeft | Qt::AlignTop, QStringLiteral("\u2191"));
        }
    }
}

void TokenLatencyView::paintPrediction(QPainter& painter) const {
    const RunIndex* index = data()->predictedIndex();
    if (!index || m_predicted.empty())
        return;
    std::vector<QLine> lines;
    lines.reserve(m_predicted.size() * 3);
    for (const TokenMark& mark : m_predicted) {
        const QRect r = rectOf(mark, 0, index->tokens().bars()[mark.slowest].total());
        lines.emplace_back(r.left(), r.top(), r.right(), r.top());
        if (r.width() < kWideBar)
            continue; // a picket fence of sides would hide the measured bars
        lines.emplace_back(r.left(), r.bottom(), r.left(), r.top());
        lines.emplace_back(r.right(), r.top(), r.right(), r.bottom());
    }
    painter.setPen(theme().prediction);
    painter.drawLines(lines.data(), static_cast<int>(lines.size()));
}

void TokenLatencyView::paintPercentiles(QPainter& painter) const {
    if (m_percentiles.count < 2)
        return;
    struct Line {
        QString name;
        std::int64_t value;
        int y;
    };
    const QRect area = plotRect();
    const QFontMetrics metrics(font());
    std::vector<Line> lines;
    for (const auto& [name, value] :
         {std::pair{"p50", m_percentiles.p50}, std::pair{"p90", m_percentiles.p90},
          std::pair{"p99", m_percentiles.p99}}) {
        const int y = static_cast<int>(std::lround(valuePixel(static_cast<double>(value))));
        if (y < area.top() || y > area.bottom())
            continue;
        // Lines that fall together share a label.
        if (!lines.empty() && lines.back().y - y <= metrics.height() / 3)
            lines.back() = {lines.back().name + QLatin1Char(' ') + name, value, y};
        else
            lines.push_back({QString::fromLatin1(name), value, y});
        painter.setPen(theme().text);
        for (int x = area.left(); x < area.right(); x += 8)
            painter.drawLine(x, y, x + 3, y);
    }
    int free = area.bottom() + 1;
    for (const Line& line : lines) {
        const QString text = line.name + QLatin1Char(' ') + spanText(Nanos(line.value));
        const int width = metrics.horizontalAdvance(text) + 8;
        const int bottom = std::min(line.y + metrics.height() / 2, free);
        const int top = std::max(area.top(), bottom - metrics.height());
        const QRect label(area.right() - width, top, width, metrics.height());
        if (label.bottom() >= free)
            break; // no room above the one before
        free = label.top();
        painter.fillRect(label, theme().background);
        painter.setPen(theme().text);
        painter.drawText(label, Qt::AlignCenter, text);
    }
}

void TokenLatencyView::paintContent(QPainter& painter) {
    painter.setFont(font());
    if (!data()->shownIndex())
        return;
    paintBars(painter);
    paintPrediction(painter);
    paintPercentiles(painter);
}

void TokenLatencyView::paintHover(QPainter& painter) {
    const Item item = time()->hovered();
    const RunIndex* index = data()->shownIndex();
    if (!index || item.kind != Item::Kind::Token || item.id >= index->tokens().bars().size())
        return;
    for (const TokenMark& mark : m_marks)
        if (mark.first <= item.id && item.id < mark.first + mark.count) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(theme().hover);
            painter.drawRect(rectOf(mark, 0, index->tokens().bars()[mark.slowest].total())
                                 .adjusted(0, 0, -1, -1));
        }
}

std::optional<Hit> TokenLatencyView::hitAt(QPointF position) const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return std::nullopt;
    const Nanos t = timeAt(position.x());
    const auto found = std::find_if(m_marks.begin(), m_marks.end(), [t](const TokenMark& mark) {
        return mark.begin <= t.value && t.value < mark.end;
    });
    if (found == m_marks.end())
        return std::nullopt;
    const TokenBar& bar = index->tokens().bars()[found->slowest];
    Hit hit;
    hit.item = {Item::Kind::Token, found->slowest};
    hit.time = Nanos(found->begin);
    hit.fit = TimeRange{Nanos(found->begin), Nanos(found->end)};
    if (found->count > 1)
        hit.text = tr("%1 tokens, %2\nslowest: ")
                       .arg(countText(found->count))
                       .arg(rangeText(Nanos(found->minTotal), Nanos(bar.total())));
    hit.text += bar.first ? tr("first token of window %1").arg(bar.window)
                          : tr("token %1 of window %2").arg(bar.number).arg(bar.window);
    hit.text += QStringLiteral("  ") + spanText(Nanos(bar.total()));
    hit.text += tr("\ncompute %1").arg(spanText(Nanos(bar.compute)));
    if (bar.read > 0)
        hit.text += tr("\nread %1").arg(spanText(Nanos(bar.read)));
    hit.text +=
        tr("\nstall %1\nother %2").arg(spanText(Nanos(bar.stall)), spanText(Nanos(bar.other)));
    if (const RunIndex* other = data()->predictedIndex(); other && data()->measured()) {
        const auto& bars = other->tokens().bars();
        if (found->slowest < bars.size())
            hit.text += QStringLiteral("\n%1 %2").arg(
                data()->ghostName(), spanText(Nanos(bars[found->slowest].total())));
    }
    hit.text += tr("\nat %1").arg(momentText(hit.time));
    return hit;
}

std::vector<HeaderChip> TokenLatencyView::headerChips() const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return {};
    const auto at = time()->cursor() ? index->tokens().barAt(*time()->cursor()) : std::nullopt;
    constexpr std::array<const char*, 4> kNames{
        QT_TR_NOOP("compute"), QT_TR_NOOP("read"), QT_TR_NOOP("stall"), QT_TR_NOOP("other")};
    std::vector<HeaderChip> chips;
    for (std::size_t i = 0; i < kParts.size(); ++i)
        chips.push_back(
            {HeaderChip::Mark::Fill, theme().*kParts[i].colour, tr(kNames[i]),
             at ? spanText(Nanos(index->tokens().bars()[*at].*kParts[i].time)) : QString()});
    if (!m_predicted.empty())
        chips.push_back(
            {HeaderChip::Mark::Line, theme().prediction, data()->ghostName(), QString()});
    return chips;
}

QString TokenLatencyView::changeOver(TimeRange range) const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return {};
    const Percentiles p = index->tokens().percentiles(range.begin, range.end);
    if (p.count == 0)
        return tr("no token");
    if (p.count == 1)
        return tr("1 token, %1").arg(spanText(Nanos(p.max)));
    return tr("%1 tokens, p50 %2, max %3")
        .arg(p.count)
        .arg(spanText(Nanos(p.p50)), spanText(Nanos(p.max)));
}

std::string
TokenLatencyView::csvOf(const RunIndex& index, const trace::Legend&, TimeRange range) const {
    return analyze::tokensCsv(index, range.begin, range.end);
}

} // namespace shardscope::ui
