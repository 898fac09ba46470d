// SPDX-License-Identifier: GPL-3.0-or-later
// Staircases of one value range a pixel column, as lines of width 1. Qt's dash pattern is slow on
// long lines, and a dash that starts anew with each step is no dash; these are tied to the pixels.
#pragma once

#include <vector>

#include <QPainter>
#include <QRect>

namespace shardscope::ui {

/// The vertical extent of a line within one pixel column.
struct LineColumn {
    double top = 0;
    double bottom = 0;
    bool empty = true;
};

enum class LineStyle { Solid, Dashed };

/// Draws columns from x = `left` on with the painter's pen: at most two points a column.
void paintLine(
    QPainter& painter, int left, const std::vector<LineColumn>& columns, LineStyle style);

/// A dashed line that is seen on any ground: `ground` stands between the dashes.
void paintGhost(
    QPainter& painter, int left, const std::vector<LineColumn>& columns, const QColor& colour,
    const QColor& ground);

} // namespace shardscope::ui
