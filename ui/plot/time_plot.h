// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts over time have in common: one time axis at the same place in all of them, the
// hands (zoom, pan, select), cursor, selection and hover on a layer of their own, the hover card.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <QPointer>
#include <QWidget>

#include "ui/plot/plot_hands.h"
#include "ui/state/run_data.h"
#include "ui/state/theme.h"

class QCPAxis;
class QCPAxisRect;
class QCPLayer;
class QPainter;
class QCustomPlot;
class QMenu;

namespace shardscope::ui {

class PaintedLayer;

/// A chip of the header line of a chart: a colour, a name, and a value at the cursor.
struct HeaderChip {
    enum class Mark : std::uint8_t { Fill, Line, Dashes };
    Mark mark = Mark::Fill;
    QColor colour;
    QString name;
    QString value; ///< empty: none
};

/// What stands under the pointer.
struct Hit {
    Item item;
    base::Nanos time;   ///< begin of the thing, or of what was merged
    QString text;       ///< lines for the hover card: name, value, id, or count and min..max
    QString activation; ///< said when it is clicked: the plan's reason; empty: nothing to say
    std::optional<TimeRange> fit; ///< what a double click shows; none: everything
};

/// Base of the charts; each is a widget to be put above the others in one column. GUI thread only.
class TimePlot : public QWidget, private PlotHandsTarget {
    Q_OBJECT

public:
    ~TimePlot() override;

    /// Title of the chart, as its header shows it.
    QString title() const { return m_title; }
    void setTheme(const Theme& theme);
    const Theme& theme() const { return m_theme; }
    /// Ticks with times below the chart; the lowest chart of a stack needs them. On by default.
    void setTimeAxisVisible(bool visible);
    /// Shows what notes say, not only where they are; for the uppermost chart of a stack.
    void setNoteTextVisible(bool visible);
    /// Writes the chart as it stands to a .png, .svg or .pdf file; false where that fails.
    bool exportTo(const QString& path);
    /// Draws the chart at the painter's origin, as large as the widget is.
    void drawInto(QPainter& painter);
    /// The data behind what is visible as CSV; empty where there is none.
    QString csv() const;
    /// The pixels between which every chart draws time: left and right edge within the widget.
    int plotLeft() const;
    int plotRight() const;

    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

signals:
    /// A thing was clicked: what, when, and a sentence about it ("streamed: ...").
    void itemActivated(shardscope::ui::Item item, shardscope::base::Nanos time, QString text);
    /// For the status bar: the value under the pointer and the next useful gesture.
    void statusChanged(const QString& text);
    /// The menu of a right click, before it is shown: for actions of the page.
    void contextMenuAboutToShow(QMenu* menu);

protected:
    TimePlot(RunData* data, const QString& title, QWidget* parent);

    /// Draws data; `visible` is already set on the axis.
    virtual void paintContent(QPainter& painter) = 0;
    /// Outlines of the hovered item; above the content, redrawn alone.
    virtual void paintHover(QPainter& painter) = 0;
    /// Prepares what paintContent() draws: called once before each redraw.
    virtual void prepare() {}
    virtual std::optional<Hit> hitAt(QPointF position) const = 0;
    virtual std::vector<HeaderChip> headerChips() const = 0;
    virtual std::string
    csvOf(const analyze::RunIndex& index, const trace::Legend& legend, TimeRange range) const = 0;
    /// "+3.1 MiB" and the like: how the value changes over a range of time; empty: no such value.
    virtual QString changeOver(TimeRange range) const;
    virtual void themeChanged() {}

    RunData* data() const { return m_data; }
    TimeState* time() const { return m_data->time(); }
    QCustomPlot* plot() const { return m_plot; }
    QCPAxis* timeAxis() const;
    QCPAxis* valueAxis() const;
    QRect plotRect() const;
    double pixelOf(base::Nanos t) const;
    /// As the value axis, without its checks: this is called for every mark.
    double valuePixel(double value) const;
    base::Nanos timeAt(double x) const;
    base::Nanos timePerPixel() const;

    /// The value axis shows [low, high] until the user zooms it.
    void setValueRange(double low, double high);
    void setValueZoomable(bool zoomable) { m_valueZoomable = zoomable; }
    /// Redraw with the next frame.
    void requestDraw();
    void requestOverlay();

    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    // PlotHandsTarget
    QRect handsArea() const override;
    bool overValueAxis(QPointF position) const override;
    base::Nanos handsTimeAt(double x) const override;
    double handsPixelOf(base::Nanos t) const override;
    void zoomValues(double y, double factor) override;
    void resetValues() override;
    void pointerMoved(QPointF position) override;
    void pointerLeft() override;
    void clicked(QPointF position) override;
    void doubleClicked(QPointF position) override;
    void contextMenu(QPoint globalPosition) override;

    void buildPlot();
    void applyTheme();
    void applyMargins();
    void drawRequested();
    void drawAll();
    QString statusText(base::Nanos t, const std::optional<Hit>& hit) const;
    void paintOverlay(QPainter& painter);
    void paintHeader(QPainter& painter);
    void paintSelection(QPainter& painter);
    void paintNotes(QPainter& painter);

    QPointer<RunData> m_data;
    QString m_title;
    Theme m_theme;
    QCustomPlot* m_plot = nullptr;
    PaintedLayer* m_content = nullptr;
    PaintedLayer* m_overlay = nullptr;
    QCPLayer* m_overlayLayer = nullptr;
    QCPAxisRect* m_area = nullptr; ///< asking the plot for it builds a list each time
    std::unique_ptr<PlotHands> m_hands;
    bool m_timeAxisVisible = true;
    bool m_noteTextVisible = false;
    bool m_valueZoomable = true;
    bool m_overlayOnly = false;
    double m_valueLow = 0, m_valueHigh = 1;
    std::optional<std::pair<double, double>> m_userValues;
};

} // namespace shardscope::ui
