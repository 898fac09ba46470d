// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "ui/state/run_data.h"
#include "ui/state/theme.h"

namespace shardscope::ui {

/// The arena at the cursor, in the order of its offsets: `[cross KV 1.1][shard 3 4.7][free 170]`.
/// Segments are as wide as they are large, but never too narrow to be seen. GUI thread only.
class LayoutStrip : public QWidget {
    Q_OBJECT

public:
    explicit LayoutStrip(RunData* data, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void itemActivated(shardscope::ui::Item item, shardscope::base::Nanos time, QString text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Cell {
        analyze::LayoutSegment segment;
        QRect rect;
    };

    base::Nanos momentShown() const;
    void refresh();
    void layOut();
    int barHeight() const;
    const Cell* cellAt(QPoint position) const;
    const analyze::Life& lifeOf(const Cell& cell) const;
    Item itemOf(const Cell& cell) const;
    QString nameOf(const Cell& cell) const;
    void paintCell(QPainter& painter, const Cell& cell) const;
    void paintLabels(QPainter& painter) const;
    void paintLabel(
        QPainter& painter, const Cell& cell, const QRect& rect, const QString& name,
        std::int64_t bytes, bool group) const;

    RunData* m_data;
    Theme m_theme;
    std::vector<Cell> m_cells;
    bool m_stale = true; ///< m_cells are those of other data
};

} // namespace shardscope::ui
