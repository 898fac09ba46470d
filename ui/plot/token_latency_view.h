// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/plot/time_plot.h"

namespace shardscope::ui {

/// A bar a token over the time it took, split into compute, read, stall and other; lines at p50,
/// p90 and p99 of what is visible; the prediction as an outline.
class TokenLatencyView : public TimePlot {
    Q_OBJECT

public:
    explicit TokenLatencyView(RunData* data, QWidget* parent = nullptr);

protected:
    void prepare() override;
    void paintContent(QPainter& painter) override;
    void paintHover(QPainter& painter) override;
    std::optional<Hit> hitAt(QPointF position) const override;
    std::vector<HeaderChip> headerChips() const override;
    std::string csvOf(const analyze::RunIndex& index, const trace::Legend& legend, TimeRange range)
        const override;
    QString changeOver(TimeRange range) const override;

private:
    QRect rectOf(const analyze::TokenMark& mark, std::int64_t from, std::int64_t to) const;
    void paintBars(QPainter& painter) const;
    void paintPrediction(QPainter& painter) const;
    void paintPercentiles(QPainter& painter) const;
    /// A height that shows all decode steps; a prefill may be cut off.
    double wantedTop() const;

    std::vector<analyze::TokenMark> m_marks;
    std::vector<analyze::TokenMark> m_predicted;
    analyze::Percentiles m_percentiles;
};

} // namespace shardscope::ui
