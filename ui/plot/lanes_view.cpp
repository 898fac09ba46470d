// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/lanes_view.h"

#include <algorithm>
#include <cmath>

#include <qcustomplot.h>

#include "sim_engine/analyze/csv.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::kSpanLaneCount;
using analyze::RunIndex;
using analyze::Span;
using analyze::SpanLaneKind;
using analyze::SpanMark;
using base::Nanos;

namespace {

constexpr int kShortestPx = 3;
constexpr int kLaneGap = 6;
constexpr int kThinHeight = 5;

QString text(std::string_view s) {
    return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

SpanLaneKind kindOf(std::size_t lane) {
    return static_cast<SpanLaneKind>(lane);
}

} // namespace

LanesView::LanesView(RunData* data, QWidget* parent) : TimePlot(data, tr("Lanes"), parent) {
    setObjectName(QStringLiteral("plot.lanes"));
    setValueZoomable(false);
    setValueRange(0, kSpanLaneCount);
    valueAxis()->grid()->setVisible(false);
    auto ticker = QSharedPointer<QCPAxisTickerText>(new QCPAxisTickerText);
    for (std::size_t lane = 0; lane < kSpanLaneCount; ++lane)
        ticker->addTick(
            static_cast<double>(kSpanLaneCount - lane) - 0.5,
            text(analyze::spanLaneName(kindOf(lane))));
    valueAxis()->setTicker(ticker);
}

const RunIndex* LanesView::index(Layer layer) const {
    if (layer == Measured)
        return data()->shownIndex();
    return layered() ? data()->predictedIndex() : nullptr;
}

const trace::Legend& LanesView::legend(Layer layer) const {
    const bool measured = layer == Measured && data()->measured();
    return (measured ? data()->measured() : data()->predicted())->legend;
}

void LanesView::prepare() {
    const TimeRange v = time()->visible();
    for (std::size_t lane = 0; lane < kSpanLaneCount; ++lane)
        for (const Layer layer : {Measured, Predicted}) {
            const RunIndex* source = index(layer);
            m_marks[lane][layer] =
                source
                    ? source->lane(kindOf(lane)).marks(v.begin, v.end, timePerPixel() * kShortestPx)
                    : Marks{};
        }
}

LanesView::Band LanesView::band(std::size_t lane, Layer layer) const {
    const QRect area = plotRect();
    const double step = static_cast<double>(area.height()) / kSpanLaneCount;
    const int top = area.top() + static_cast<int>(std::lround(step * static_cast<double>(lane)));
    const int room = static_cast<int>(step) - kLaneGap;
    const int thin = layered() ? kThinHeight + 1 : 0;
    if (layer == Predicted)
        return {top + kLaneGap / 2 + room - kThinHeight, kThinHeight};
    return {top + kLaneGap / 2, std::max(2, room - thin)};
}

QRect LanesView::rectOf(const SpanMark& mark, const Band& b) const {
    const QRect area = plotRect();
    const auto x = [&](std::int64_t t) {
        return static_cast<int>(
            std::lround(std::clamp<double>(pixelOf(Nanos(t)), area.left() - 2, area.right() + 3)));
    };
    const int left = x(mark.begin);
    return {left, b.top, std::max(1, x(mark.end) - left), b.height};
}

QColor LanesView::colourOf(std::size_t lane, const SpanMark& mark) const {
    switch (kindOf(lane)) {
    case SpanLaneKind::Compute:
        return theme().op[mark.kind < model::kOpKindCount ? mark.kind : 0];
    case SpanLaneKind::Read:
        return theme().read;
    case SpanLaneKind::Stall:
        return theme().stall;
    }
    return theme().other;
}

/// A merged mark is faint, and full as high as its share of busy time: it looks like what it is.
void LanesView::paintLane(QPainter& painter, std::size_t lane, Layer layer) const {
    const Band b = band(lane, layer);
    const auto& marks = m_marks[lane][layer];
    const Nanos shortest = timePerPixel() * kShortestPx;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const SpanMark& mark = marks[i];
        QRect rect = rectOf(mark, b);
        const QColor colour = colourOf(lane, mark);
        if (!mark.merged()) {
            painter.fillRect(rect, colour);
            if (layer == Measured)
                paintLabel(painter, lane, mark, rect, colour);
            continue;
        }
        // Gaps that are too narrow to be seen are not drawn: they would only flicker.
        if (i + 1 < marks.size()) {
            const int next = rectOf(marks[i + 1], b).left();
            if (next - rect.right() <= kShortestPx)
                rect.setRight(std::max(rect.right(), next - 1));
        }
        const std::int64_t until = i + 1 < marks.size()
                                       ? std::min(mark.end + shortest.value, marks[i + 1].begin)
                                       : mark.end;
        const auto span = static_cast<double>(std::max<std::int64_t>(1, until - mark.begin));
        const double busy = std::min(1.0, static_cast<double>(mark.busy) / span);
        const int full = std::max(1, static_cast<int>(std::lround(busy * rect.height())));
        painter.fillRect(rect, theme().faint(colour));
        painter.fillRect(QRect(rect.left(), rect.bottom() + 1 - full, rect.width(), full), colour);
    }
}

void LanesView::paintLabel(
    QPainter& painter, std::size_t lane, const SpanMark& mark, const QRect& rect,
    const QColor& fill) const {
    const QFontMetrics metrics(painter.font());
    const QRect seen = rect.intersected(plotRect()).adjusted(4, 0, -4, 0);
    if (seen.width() < 28 || seen.height() < metrics.height())
        return;
    const Span& span = index(Measured)->lane(kindOf(lane)).spans()[mark.first];
    const QString name = nameOf(lane, Measured, span);
    const QString shown = metrics.elidedText(name, Qt::ElideRight, seen.width());
    if (shown.size() < 4 && shown != name)
        return;
    painter.setPen(Theme::textOn(fill));
    painter.drawText(seen, Qt::AlignLeft | Qt::AlignVCenter, shown);
}

/// How many spans a stretch of merged marks stands for, where there is room to say it.
void LanesView::paintCounts(QPainter& painter, std::size_t lane) const {
    const Band b = band(lane, Measured);
    const QFontMetrics metrics(painter.font());
    if (b.height < metrics.height())
        return;
    const auto& marks = m_marks[lane][Measured];
    for (std::size_t first = 0; first < marks.size();) {
        if (!marks[first].merged()) {
            ++first;
            continue;
        }
        std::uint32_t count = 0;
        std::size_t last = first;
        int right = rectOf(marks[first], b).left();
        const int left = right;
        for (; last < marks.size() && marks[last].merged(); ++last) {
            const QRect rect = rectOf(marks[last], b);
            if (rect.left() - right > kShortestPx * 2)
                break;
            right = rect.right();
            count += marks[last].count;
        }
        const QString label = countText(count);
        const int width = metrics.horizontalAdvance(label) + 8;
        if (right - left >= width + 24) {
            const QRect chip(
                (left + right - width) / 2, b.top + (b.height - metrics.height()) / 2, width,
                metrics.height());
            painter.fillRect(chip, theme().surface);
            painter.setPen(theme().text);
            painter.drawText(chip, Qt::AlignCenter, label);
        }
        first = std::max(last, first + 1);
    }
}

void LanesView::paintContent(QPainter& painter) {
    painter.setFont(font());
    const QRect area = plotRect();
    for (std::size_t lane = 0; lane < kSpanLaneCount; ++lane) {
        if (lane > 0) {
            const int y = band(lane, Measured).top - kLaneGap / 2;
            painter.setPen(theme().grid);
            painter.drawLine(area.left(), y, area.right(), y);
        }
        if (index(Measured)) {
            paintLane(painter, lane, Measured);
            paintCounts(painter, lane);
        }
        if (index(Predicted))
            paintLane(painter, lane, Predicted);
    }
}

bool LanesView::belongs(std::size_t lane, const Span& span, Item item) const {
    if (kindOf(lane) != SpanLaneKind::Compute)
        return item.kind == Item::Kind::Shard && span.id == item.id;
    if (item.kind == Item::Kind::Op)
        return span.id == item.id;
    const auto& ops = legend(Measured).ops;
    return item.kind == Item::Kind::Shard && span.id < ops.size() &&
           ops[span.id].shard == item.id && item.id != base::ShardId::kNone;
}

void LanesView::paintHover(QPainter& painter) {
    Item item = time()->hovered();
    if (!index(Measured) || (item.kind != Item::Kind::Shard && item.kind != Item::Kind::Op))
        return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(theme().hover);
    for (std::size_t lane = 0; lane < kSpanLaneCount; ++lane) {
        const Band b = band(lane, Measured);
        const auto& spans = index(Measured)->lane(kindOf(lane)).spans();
        for (const SpanMark& mark : m_marks[lane][Measured])
            if (!mark.merged() && belongs(lane, spans[mark.first], item))
                painter.drawRect(rectOf(mark, b).adjusted(0, 0, -1, -1));
    }
}

QString LanesView::nameOf(std::size_t lane, Layer layer, const Span& span) const {
    const trace::Legend& names = legend(layer);
    if (kindOf(lane) == SpanLaneKind::Compute)
        return span.id < names.ops.size() ? QString::fromStdString(names.ops[span.id].name)
                                          : tr("unknown op");
    if (span.id == trace::kRowRead)
        return tr("rows of the embedding");
    return span.id < names.shards.size() ? QString::fromStdString(names.shards[span.id].name)
                                         : tr("unknown shard");
}

Hit LanesView::describe(std::size_t lane, Layer layer, const SpanMark& mark) const {
    const RunIndex* source = index(layer);
    const Span& span = source->lane(kindOf(lane)).spans()[mark.first];
    const QString what = text(analyze::spanLaneName(kindOf(lane)));
    Hit hit;
    hit.time = Nanos(mark.begin);
    hit.fit = TimeRange{Nanos(mark.begin), Nanos(mark.end)};
    if (mark.merged()) {
        hit.text = tr("%1 %2").arg(countText(mark.count), what) +
                   tr("\n%1 each, %2 together")
                       .arg(rangeText(Nanos(mark.minDuration), Nanos(mark.maxDuration)))
                       .arg(spanText(Nanos(mark.busy)));
    } else {
        hit.text = nameOf(lane, layer, span) + QLatin1Char('\n') + what + QStringLiteral(", ") +
                   spanText(Nanos(span.duration()));
        if (span.bytes > 0)
            hit.text += tr("\n%1, %2")
                            .arg(bytesText(span.bytes))
                            .arg(rateOf(span.bytes, Nanos(span.duration())));
        base::ShardId shard(span.id);
        hit.item = {Item::Kind::Shard, span.id};
        if (kindOf(lane) == SpanLaneKind::Compute) {
            const auto& ops = legend(layer).ops;
            hit.item = {Item::Kind::Op, span.id};
            shard = span.id < ops.size() ? base::ShardId(ops[span.id].shard) : base::ShardId();
        } else if (span.id == trace::kRowRead) {
            hit.item = {};
        }
        hit.activation = QString::fromStdString(source->whyLoaded(shard, Nanos(mark.begin)));
        if (!hit.activation.isEmpty())
            hit.text += QLatin1Char('\n') + hit.activation;
    }
    hit.text += tr("\nat %1").arg(momentText(Nanos(mark.begin)));
    if (layer == Predicted)
        hit.text += QStringLiteral(" (%1)").arg(data()->ghostName());
    return hit;
}

std::optional<Hit> LanesView::hitAt(QPointF position) const {
    for (std::size_t lane = 0; lane < kSpanLaneCount; ++lane)
        for (const Layer layer : {Measured, Predicted}) {
            const Band b = band(lane, layer);
            if (!index(layer) || position.y() < b.top || position.y() >= b.top + b.height)
                continue;
            const SpanMark* nearest = nullptr;
            double best = 3;
            for (const SpanMark& mark : m_marks[lane][layer]) {
                const double left = pixelOf(Nanos(mark.begin)), right = pixelOf(Nanos(mark.end));
                const double distance = std::max({0.0, left - position.x(), position.x() - right});
                if (distance < best || (distance == 0 && best == 0)) {
                    nearest = &mark;
                    best = distance;
                }
            }
            if (nearest)
                return describe(lane, layer, *nearest);
        }
    return std::nullopt;
}

std::vector<HeaderChip> LanesView::headerChips() const {
    std::vector<HeaderChip> chips;
    if (!index(Measured))
        return chips;
    const auto& compute = index(Measured)->lane(SpanLaneKind::Compute);
    for (std::size_t k = 0; k < model::kOpKindCount; ++k)
        if (compute.busyOf(static_cast<std::uint8_t>(k)) > 0)
            chips.push_back(
                {HeaderChip::Mark::Fill,
                 theme().op[k],
                 text(model::opKindName(static_cast<model::OpKind>(k))).replace('_', ' '),
                 {}});
    chips.push_back({HeaderChip::Mark::Fill, theme().read, tr("read"), {}});
    chips.push_back({HeaderChip::Mark::Fill, theme().stall, tr("stall"), {}});
    if (layered())
        chips.push_back(
            {HeaderChip::Mark::Dashes,
             theme().prediction,
             tr("thin: %1").arg(data()->ghostName()),
             {}});
    return chips;
}

QString LanesView::changeOver(TimeRange range) const {
    const RunIndex* source = index(Measured);
    if (!source)
        return {};
    const auto share = [&](SpanLaneKind kind) {
        const double part = source->lane(kind).busyWithin(range.begin, range.end).real() /
                            std::max(1.0, range.span().real());
        return QString::number(std::lround(100 * part)) + QStringLiteral(" %");
    };
    return tr("compute %1, read %2, stall %3")
        .arg(share(SpanLaneKind::Compute), share(SpanLaneKind::Read), share(SpanLaneKind::Stall));
}

std::string
LanesView::csvOf(const RunIndex& index, const trace::Legend& legend, TimeRange range) const {
    return analyze::lanesCsv(index, legend, range.begin, range.end);
}

} // namespace shardscope::ui
