// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/dashes.h"

#include <algorithm>
#include <cmath>

#include <QLine>

namespace shardscope::ui {

namespace {

constexpr int kDash = 5, kGap = 3;

int rounded(double y) {
    return static_cast<int>(std::lround(std::clamp(y, -1e6, 1e6)));
}

} // namespace

void paintLine(
    QPainter& painter, int left, const std::vector<LineColumn>& columns, LineStyle style) {
    std::vector<QLine> lines;
    lines.reserve(columns.size());
    const LineColumn* before = nullptr;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const LineColumn& c = columns[i];
        if (c.empty) {
            before = nullptr;
            continue;
        }
        int top = rounded(c.top), bottom = rounded(c.bottom);
        if (before) { // joined to the column before it
            top = std::min(top, rounded(before->bottom));
            bottom = std::max(bottom, rounded(before->top));
        }
        before = &c;
        const int x = left + static_cast<int>(i);
        const bool flat = bottom - top <= 1;
        if (style == LineStyle::Dashed && flat && x % (kDash + kGap) >= kDash)
            continue;
        const bool joins = flat && !lines.empty() && lines.back().y1() == lines.back().y2() &&
                           lines.back().y2() == bottom && lines.back().x2() == x - 1;
        if (joins)
            lines.back().setP2({x, bottom});
        else
            lines.emplace_back(x, flat ? bottom : top, x, bottom);
    }
    painter.drawLines(lines.data(), static_cast<int>(lines.size()));
}

void paintGhost(
    QPainter& painter, int left, const std::vector<LineColumn>& columns, const QColor& colour,
    const QColor& ground) {
    painter.setPen(ground);
    paintLine(painter, left, columns, LineStyle::Solid);
    painter.setPen(colour);
    paintLine(painter, left, columns, LineStyle::Dashed);
}

} // namespace shardscope::ui
