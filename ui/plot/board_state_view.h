// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/plot/dashes.h"
#include "ui/plot/time_plot.h"

namespace shardscope::ui {

/// How the board was while it ran: free memory, page cache, swap, temperature and clock, as far as
/// they were sampled. Each line stands in the share of its own highest value; chips and the hover
/// card tell the values.
class BoardStateView : public TimePlot {
    Q_OBJECT

public:
    explicit BoardStateView(RunData* data, QWidget* parent = nullptr);

    QSize minimumSizeHint() const override { return {320, 60}; }

protected:
    void prepare() override;
    void paintContent(QPainter& painter) override;
    void paintHover(QPainter&) override {}
    std::optional<Hit> hitAt(QPointF position) const override;
    std::vector<HeaderChip> headerChips() const override;
    std::string csvOf(const analyze::RunIndex& index, const trace::Legend& legend, TimeRange range)
        const override;

private:
    struct Line {
        trace::CounterKind kind;
        QColor colour;
        double most = 1;
        std::vector<analyze::ValueColumn> columns;
    };

    std::vector<Line> m_lines;
};

} // namespace shardscope::ui
