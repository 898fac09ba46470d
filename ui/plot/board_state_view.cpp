// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/board_state_view.h"

#include <algorithm>
#include <array>

#include <qcustomplot.h>

#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::RunIndex;
using base::Nanos;
using trace::CounterKind;

namespace {

constexpr double kHeadroom = 1.15;
constexpr std::size_t kCsvRows = 2000;

struct Shown {
    CounterKind kind;
    QColor Theme::*colour;
};
constexpr std::array<Shown, 5> kShown{
    {{CounterKind::FreeRam, &Theme::compute},
     {CounterKind::PageCache, &Theme::textMuted},
     {CounterKind::SwapUsed, &Theme::stall},
     {CounterKind::Heat, &Theme::read},
     {CounterKind::Clock, &Theme::prediction}}};

QString nameOf(CounterKind kind) {
    const std::string_view name = trace::counterName(kind);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString valueText(CounterKind kind, std::int64_t value) {
    const auto number = static_cast<double>(value);
    if (kind == CounterKind::Heat)
        return QStringLiteral("%1 \u00b0C").arg(number / 1e3, 0, 'f', 1);
    if (kind == CounterKind::Clock)
        return QStringLiteral("%1 MHz").arg(number / 1e3, 0, 'f', 0);
    return bytesText(value);
}

} // namespace

BoardStateView::BoardStateView(RunData* data, QWidget* parent)
    : TimePlot(data, tr("Board"), parent) {
    setObjectName(QStringLiteral("plot.board"));
    auto ticks = QSharedPointer<QCPAxisTickerText>::create();
    ticks->addTick(0, QStringLiteral("0"));
    ticks->addTick(1, tr("most"));
    valueAxis()->setTicker(ticks);
    setValueZoomable(false);
    setValueRange(0, kHeadroom);
}

void BoardStateView::prepare() {
    m_lines.clear();
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return;
    const TimeRange v = time()->visible();
    const auto width = static_cast<std::size_t>(std::max(1, plotRect().width()));
    for (const Shown& shown : kShown)
        if (const auto& values = index->counter(shown.kind); !values.empty())
            m_lines.push_back(
                {shown.kind, theme().*shown.colour,
                 std::max(1.0, static_cast<double>(values.peak())),
                 values.columns(v.begin, v.end, width, index->end())});
}

void BoardStateView::paintContent(QPainter& painter) {
    if (m_lines.empty() && data()->shownIndex()) {
        painter.setFont(font());
        painter.setPen(theme().textMuted);
        painter.drawText(
            plotRect(), Qt::AlignCenter, tr("The state of the board was not sampled in this run."));
    }
    for (const Line& line : m_lines) {
        std::vector<LineColumn> columns;
        columns.reserve(line.columns.size());
        for (const analyze::ValueColumn& c : line.columns)
            columns.push_back(
                {valuePixel(static_cast<double>(c.high) / line.most),
                 valuePixel(static_cast<double>(c.low) / line.most), c.empty});
        painter.setPen(line.colour);
        paintLine(painter, plotRect().left(), columns, LineStyle::Solid);
    }
}

std::optional<Hit> BoardStateView::hitAt(QPointF position) const {
    const RunIndex* index = data()->shownIndex();
    if (!index || m_lines.empty())
        return std::nullopt;
    Hit hit;
    hit.time = timeAt(position.x());
    hit.text = momentText(hit.time);
    for (const Line& line : m_lines)
        if (const auto value = index->counter(line.kind).valueAt(hit.time))
            hit.text += QStringLiteral("\n%1: %2 (at most %3)")
                            .arg(
                                nameOf(line.kind), valueText(line.kind, *value),
                                valueText(line.kind, static_cast<std::int64_t>(line.most)));
    return hit;
}

std::vector<HeaderChip> BoardStateView::headerChips() const {
    const RunIndex* index = data()->shownIndex();
    if (!index)
        return {};
    const Nanos t = time()->cursor().value_or(index->end());
    std::vector<HeaderChip> chips;
    for (const Line& line : m_lines) {
        const auto value = index->counter(line.kind).valueAt(t);
        chips.push_back(
            {HeaderChip::Mark::Line, line.colour, nameOf(line.kind),
             value ? valueText(line.kind, *value) : QString()});
    }
    return chips;
}

std::string
BoardStateView::csvOf(const RunIndex& index, const trace::Legend&, TimeRange range) const {
    std::string csv = "time_ns";
    std::vector<std::vector<analyze::ValueColumn>> columns;
    for (const Shown& shown : kShown) {
        csv += "," + std::string(trace::counterName(shown.kind));
        columns.push_back(
            index.counter(shown.kind).columns(range.begin, range.end, kCsvRows, index.end()));
    }
    csv += '\n';
    for (std::size_t row = 0; row < kCsvRows; ++row) {
        const auto step = static_cast<std::int64_t>(row);
        csv += std::to_string(
            range.begin.value + range.span().value * step / static_cast<std::int64_t>(kCsvRows));
        for (const auto& values : columns)
            csv += row < values.size() && !values[row].empty
                       ? "," + std::to_string(values[row].high)
                       : std::string(",");
        csv += '\n';
    }
    return csv;
}

} // namespace shardscope::ui
