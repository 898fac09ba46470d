// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <utility>

#include <qcustomplot.h>

namespace shardscope::ui {

/// A piece of a QCustomPlot that a function paints: over the axis rect, or over the whole widget.
class PaintedLayer : public QCPLayerable {
    Q_OBJECT

public:
    enum class Area { AxisRect, Widget };

    PaintedLayer(
        QCustomPlot* plot, const QString& layer, Area area, std::function<void(QPainter&)> paint)
        : QCPLayerable(plot, layer), m_area(area), m_paint(std::move(paint)) {}

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override {
        painter->setAntialiasing(false);
    }
    QRect clipRect() const override {
        return m_area == Area::AxisRect ? mParentPlot->axisRect()->rect() : mParentPlot->rect();
    }
    void draw(QCPPainter* painter) override { m_paint(*painter); }

private:
    Area m_area;
    std::function<void(QPainter&)> m_paint;
};

} // namespace shardscope::ui
