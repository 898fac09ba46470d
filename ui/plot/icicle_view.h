// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>
#include <vector>

#include "sim_engine/analyze/cost_tree.h"
#include "ui/state/run_data.h"
#include "ui/state/theme.h"

namespace shardscope::ui {

/// Passes, layers, ops and shards as bars within bars, as wide as their share of time or of bytes.
/// A click makes one of them the whole width; what is too narrow is merged, with a count. It shows
/// what is visible on the time axis of its run. GUI thread only.
class IcicleView : public QWidget {
    Q_OBJECT
public:
    explicit IcicleView(RunData* data, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    void setByBytes(bool byBytes);
    bool byBytes() const { return m_byBytes; }
    const analyze::CostNode& tree() const { return m_tree; }
    /// Names from the run down to what fills the width.
    QStringList path() const;
    /// Where the node with this path of child numbers is drawn; empty where it is not.
    QRect rectOf(const std::vector<std::size_t>& path) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, 60}; }

signals:
    /// Another range, cost or run.
    void treeChanged();
    void statusChanged(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Bar {
        QRect rect;
        std::vector<std::size_t> path; ///< child numbers from the run on
        const analyze::CostNode* node = nullptr;
        std::size_t merged = 0; ///< nodes that this bar stands for, if not one
    };
    void invalidate();
    void rebuild();
    void layOut();
    void place(
        const analyze::CostNode& node, const std::vector<std::size_t>& path, double left,
        double right, int row);
    double costOf(const analyze::CostNode& node) const;
    const analyze::CostNode* nodeAt(const std::vector<std::size_t>& path) const;
    const Bar* barAt(QPoint position) const;
    QColor colourOf(const Bar& bar) const;
    QString textOf(const Bar& bar) const;
    void paintBar(QPainter& painter, const Bar& bar) const;
    void focusOn(std::vector<std::size_t> path);
    int rowHeight() const;

    QPointer<RunData> m_data; ///< a page may lose it before its widgets
    Theme m_theme;
    bool m_byBytes = false;
    bool m_stale = true;
    analyze::CostNode m_tree;
    std::vector<std::size_t> m_focus; ///< path of what fills the width
    std::vector<Bar> m_bars;
    int m_hovered = -1; ///< index into m_bars
};

} // namespace shardscope::ui
