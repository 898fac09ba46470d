// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/plot/time_plot.h"

namespace shardscope::ui {

/// Time across, arena offset up, a rectangle for every life of a shard or buffer: the picture that
/// shows reuse and waste.
class ArenaMapView : public TimePlot {
    Q_OBJECT

public:
    explicit ArenaMapView(RunData* data, QWidget* parent = nullptr);

protected:
    void prepare() override;
    void paintContent(QPainter& painter) override;
    void paintHover(QPainter& painter) override;
    std::optional<Hit> hitAt(QPointF position) const override;
    std::vector<HeaderChip> headerChips() const override;
    std::string csvOf(const analyze::RunIndex& index, const trace::Legend& legend, TimeRange range)
        const override;

private:
    /// Whole pixels, so that neighbours touch and do not overlap.
    QRect rectOf(const analyze::LifeMark& mark) const;
    QRect
    rectOf(std::int64_t begin, std::int64_t end, std::int64_t offset, std::int64_t bytes) const;
    void paintLabel(QPainter& painter, const analyze::LifeMark& mark, const QRect& rect) const;
    void paintCounts(QPainter& painter) const;
    const trace::Legend* legend() const;

    std::vector<analyze::LifeMark> m_marks;
};

} // namespace shardscope::ui
