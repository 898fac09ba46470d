// SPDX-License-Identifier: GPL-3.0-or-later
// What lies above the data of a chart and is redrawn without it: header, selection, hover, cursor.
#include <algorithm>
#include <cmath>

#include <qcustomplot.h>

#include "ui/plot/plot_text.h"
#include "ui/plot/time_plot.h"

namespace shardscope::ui {

using base::Nanos;

namespace {

constexpr int kChipGap = 14;
constexpr int kMarkSize = 9;

struct ChipSizes {
    int name = 0;
    int value = 0; ///< 0: not shown
    int width() const { return kMarkSize + 5 + name + (value > 0 ? value + 5 : 0); }
};

void paintMark(QPainter& painter, const HeaderChip& chip, int x, int middle) {
    switch (chip.mark) {
    case HeaderChip::Mark::Fill:
        painter.fillRect(x, middle - kMarkSize / 2, kMarkSize, kMarkSize, chip.colour);
        break;
    case HeaderChip::Mark::Line:
        painter.fillRect(x, middle, kMarkSize, 1, chip.colour);
        break;
    case HeaderChip::Mark::Dashes:
        painter.fillRect(x, middle, 4, 1, chip.colour);
        painter.fillRect(x + 6, middle, 4, 1, chip.colour);
        break;
    }
}

} // namespace

void TimePlot::paintOverlay(QPainter& painter) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(font());
    const QRect area = plotRect();
    painter.save();
    painter.setClipRect(area);
    paintNotes(painter);
    paintSelection(painter);
    paintHover(painter);
    if (const auto cursor = time()->cursor(); cursor && time()->visible().contains(*cursor)) {
        painter.setPen(m_theme.cursor);
        const int x = static_cast<int>(std::lround(pixelOf(*cursor)));
        painter.drawLine(x, area.top(), x, area.bottom());
    }
    painter.restore();
    paintHeader(painter);
    if (!m_data->shownIndex()) {
        painter.setPen(m_theme.textMuted);
        painter.drawText(area, Qt::AlignCenter, tr("nothing to show yet"));
    }
}

void TimePlot::paintSelection(QPainter& painter) {
    const auto selection = time()->selection();
    if (!selection)
        return;
    const QRect area = plotRect();
    const double left = pixelOf(selection->begin), right = pixelOf(selection->end);
    if (right < area.left() || left > area.right())
        return;
    painter.fillRect(QRectF(left, area.top(), right - left, area.height()), m_theme.selection);
    painter.setPen(m_theme.accent);
    for (const double x : {left, right})
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));

    QString text = QStringLiteral("\u0394 ") + spanText(selection->span());
    const QString change = changeOver(*selection);
    if (!change.isEmpty())
        text += QStringLiteral("  ") + change;
    const QFontMetrics metrics(font());
    const int width = metrics.horizontalAdvance(text) + 10;
    double x =
        (std::max<double>(left, area.left()) + std::min<double>(right, area.right()) - width) / 2;
    x = std::clamp<double>(x, area.left(), std::max(area.left(), area.right() - width));
    const QRectF label(x, area.top() + 2, width, metrics.height() + 2);
    painter.fillRect(label, m_theme.accent);
    painter.setPen(Theme::textOn(m_theme.accent));
    painter.drawText(label, Qt::AlignCenter, text);
}

/// A band along the lower edge of each chart; in the uppermost one also the words, as far as there
/// is room before the next note.
void TimePlot::paintNotes(QPainter& painter) {
    const QRect area = plotRect();
    const QFontMetrics metrics(font());
    const auto& notes = time()->notes();
    const int row = area.bottom() - metrics.height() - 5;
    for (std::size_t i = 0; i < notes.size(); ++i) {
        const double left = pixelOf(notes[i].range.begin), right = pixelOf(notes[i].range.end);
        if (right < area.left() || left > area.right())
            continue;
        painter.fillRect(
            QRectF(left, area.bottom() - 2, std::max(3.0, right - left), 3), m_theme.accent);
        painter.setPen(m_theme.accent);
        painter.drawLine(QPointF(left, area.top()), QPointF(left, area.bottom()));
        if (!m_noteTextVisible)
            continue;
        const double from = std::max<double>(left, area.left()) + 3;
        const double end =
            i + 1 < notes.size()
                ? std::min<double>(area.right(), pixelOf(notes[i + 1].range.begin) - 4)
                : area.right();
        const int room = static_cast<int>(end - from);
        if (room < metrics.averageCharWidth() * 4)
            continue;
        const QString text = metrics.elidedText(notes[i].text, Qt::ElideRight, room - 8);
        const QRectF label(from, row, metrics.horizontalAdvance(text) + 8, metrics.height() + 2);
        painter.fillRect(label, m_theme.accent);
        painter.setPen(Theme::textOn(m_theme.accent));
        painter.drawText(label, Qt::AlignCenter, text);
    }
}

/// The title, then chips from the left as far as there is room: values go first, chips then.
void TimePlot::paintHeader(QPainter& painter) {
    const QMargins margins = plotMargins(fontMetrics(), false);
    const QRect line(8, 0, m_plot->width() - 8 - margins.right(), margins.top());
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(m_theme.text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_title);
    int x = std::max(
        margins.left(), line.left() + QFontMetrics(bold).horizontalAdvance(m_title) + kChipGap);

    const std::vector<HeaderChip> chips = headerChips();
    const QFontMetrics metrics(font());
    std::vector<ChipSizes> sizes;
    int names = 0, all = 0;
    for (const HeaderChip& chip : chips) {
        ChipSizes s;
        s.name = metrics.horizontalAdvance(chip.name);
        names += s.width() + kChipGap;
        // Values change with the cursor; places that move with them could not be read.
        s.value = chip.value.isEmpty()
                      ? 0
                      : std::max(
                            metrics.horizontalAdvance(chip.value),
                            metrics.horizontalAdvance(QStringLiteral("000.0 MiB")));
        all += s.width() + kChipGap;
        sizes.push_back(s);
    }
    const bool values = x + all <= line.right() + kChipGap;
    painter.setFont(font());
    for (std::size_t i = 0; i < chips.size(); ++i) {
        ChipSizes s = sizes[i];
        if (!values)
            s.value = 0;
        if (x + s.width() > line.right())
            break;
        paintMark(painter, chips[i], x, line.center().y());
        QRect text(x + kMarkSize + 5, line.top(), s.name + 2, line.height());
        painter.setPen(m_theme.textMuted);
        painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, chips[i].name);
        if (s.value > 0) {
            painter.setPen(m_theme.text);
            text = QRect(text.left() + s.name + 5, line.top(), s.value + 2, line.height());
            painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, chips[i].value);
        }
        x += s.width() + kChipGap;
    }
}

} // namespace shardscope::ui
