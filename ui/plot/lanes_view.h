// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <vector>

#include "ui/plot/time_plot.h"

namespace shardscope::ui {

/// Lanes of compute (coloured by kind of op), I/O and stalls; the prediction runs thin beneath
/// each.
class LanesView : public TimePlot {
    Q_OBJECT

public:
    explicit LanesView(RunData* data, QWidget* parent = nullptr);

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
    enum Layer : std::size_t { Measured, Predicted };
    struct Band {
        int top = 0;
        int height = 0;
    };
    using Marks = std::vector<analyze::SpanMark>;

    bool layered() const { return data()->measured() && data()->predicted(); }
    const analyze::RunIndex* index(Layer layer) const;
    const trace::Legend& legend(Layer layer) const;
    Band band(std::size_t lane, Layer layer) const;
    QRect rectOf(const analyze::SpanMark& mark, const Band& band) const;
    void paintLane(QPainter& painter, std::size_t lane, Layer layer) const;
    void paintCounts(QPainter& painter, std::size_t lane) const;
    void paintLabel(
        QPainter& painter, std::size_t lane, const analyze::SpanMark& mark, const QRect& rect,
        const QColor& fill) const;
    QColor colourOf(std::size_t lane, const analyze::SpanMark& mark) const;
    QString nameOf(std::size_t lane, Layer layer, const analyze::Span& span) const;
    Hit describe(std::size_t lane, Layer layer, const analyze::SpanMark& mark) const;
    bool belongs(std::size_t lane, const analyze::Span& span, Item item) const;

    std::array<std::array<Marks, 2>, analyze::kSpanLaneCount> m_marks; ///< by lane and layer
};

} // namespace shardscope::ui
