// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "ui/state/run_data.h"
#include "ui/state/theme.h"

namespace shardscope::ui {

/// The whole run with the visible range as a window that can be moved and resized by dragging; a
/// drag beside it draws a new one. Its edges line up with those of the charts. GUI thread only.
class OverviewStrip : public QWidget {
    Q_OBJECT

public:
    explicit OverviewStrip(RunData* data, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    /// Draws the strip at the painter's origin, as large as the widget is.
    void drawInto(QPainter& painter);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    enum class Drag { None, Window, Begin, End, New };

    QRect strip() const;
    double pixelOf(base::Nanos t) const;
    base::Nanos timeAt(double x) const;
    Drag handleAt(double x) const;
    void paintRun(QPainter& painter);
    void paintWindow(QPainter& painter);
    void requestDraw(bool dataChanged);

    RunData* m_data;
    Theme m_theme;
    std::vector<analyze::MemoryColumn> m_columns;
    bool m_stale = true;
    Drag m_drag = Drag::None;
    base::Nanos m_anchor;
    TimeRange m_grabbed;
};

} // namespace shardscope::ui
