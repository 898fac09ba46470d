// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/plot/dashes.h"
#include "ui/plot/time_plot.h"

namespace shardscope::ui {

/// Memory over time: stacked areas by region, the budget line with its first violation, RSS and
/// page cache where they were sampled, and the total of the prediction as a dashed line.
class RamTimelineView : public TimePlot {
    Q_OBJECT

public:
    explicit RamTimelineView(RunData* data, QWidget* parent = nullptr);

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
    struct BudgetMark {
        base::Bytes limit; ///< 0: none
        QString name;
        QColor colour;
        LineStyle style;
    };

    void paintStack(QPainter& painter) const;
    void paintLines(QPainter& painter) const;
    void paintBudgets(QPainter& painter) const;
    void paintBudgetLine(QPainter& painter, const BudgetMark& mark) const;
    /// The place of the label, which keeps off `taken`.
    QRect paintBudgetLabel(QPainter& painter, const BudgetMark& mark, const QRect& taken) const;
    void paintViolation(QPainter& painter) const;
    /// The budget of the run; 0: none.
    base::Bytes budget() const;
    /// The budget of the prediction where it is another; else 0.
    base::Bytes whatIfBudget() const;
    double wantedTop() const;
    double yOf(std::int64_t bytes) const;
    base::Nanos momentShown() const;

    std::vector<analyze::MemoryColumn> m_columns;
    std::vector<analyze::MemoryColumn> m_predicted;
    std::vector<analyze::ValueColumn> m_rss;
    std::vector<analyze::ValueColumn> m_pageCache;
};

} // namespace shardscope::ui
