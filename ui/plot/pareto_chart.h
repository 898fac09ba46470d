// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "ui/state/theme.h"

namespace shardscope::ui {

/// One configuration: its peak memory and its time a token.
struct ParetoPoint {
    double bytes = 0;
    double ms = 0;

    bool operator==(const ParetoPoint&) const = default;
};

/// Peak memory across, time a token up: the points that nothing beats, joined by a stair, with the
/// settings as they are, the baseline and the memory limit. A point is chosen with a click, or with
/// the arrow keys and Enter. GUI thread only.
class ParetoChart : public QWidget {
    Q_OBJECT
public:
    explicit ParetoChart(QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    /// Peak rises, time falls.
    void setFront(std::vector<ParetoPoint> front);
    const std::vector<ParetoPoint>& front() const { return m_front; }
    void setCurrent(std::optional<ParetoPoint> point);
    void setBaseline(std::optional<ParetoPoint> point);
    /// 0: none.
    void setLimit(double bytes);
    /// What the chart says while it has no points.
    void setHint(const QString& text);
    /// Shares of the value, drawn as whiskers at the marked point; 0: not known.
    void setErrors(double bytesShare, double msShare);

    int marked() const { return m_marked; }
    /// Centre of a point within the widget.
    QPointF placeOf(const ParetoPoint& point) const;
    bool exportTo(const QString& path);

    QSize sizeHint() const override { return {280, 250}; }
    QSize minimumSizeHint() const override { return {200, 110}; }

signals:
    /// Under the pointer or the keys now; -1: none.
    void pointMarked(int index);
    void pointChosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Scale {
        double low = 0, high = 1;
        bool logarithmic = false;
        double share(double value) const;
    };
    QRect area() const;
    void fitScales();
    int pointAt(QPointF position) const;
    void mark(int index);
    void paint(QPainter& painter);
    void paintAxes(QPainter& painter) const;
    void paintLimit(QPainter& painter) const;
    void paintFront(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    std::vector<double> timeTicks() const;

    Theme m_theme;
    std::vector<ParetoPoint> m_front;
    std::optional<ParetoPoint> m_current, m_baseline;
    double m_limit = 0;
    double m_bytesError = 0, m_msError = 0;
    QString m_hint;
    int m_marked = -1;
    Scale m_bytes, m_ms;
};

} // namespace shardscope::ui
