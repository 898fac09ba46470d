// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/time_plot.h"

#include <algorithm>

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QPicture>
#include <QResizeEvent>
#include <QVBoxLayout>

#include <qcustomplot.h>

#include "ui/plot/axis_ticks.h"
#include "ui/plot/hover_card.h"
#include "ui/plot/painted_layer.h"
#include "ui/plot/picture_file.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using base::Nanos;

namespace {

constexpr int kTimeTickPx = 92; ///< about so far from each other
constexpr int kValueTickPx = 34;

QString oneLine(QString text) {
    return text.replace(QLatin1Char('\n'), QStringLiteral("  \u00b7  "));
}

} // namespace

TimePlot::TimePlot(RunData* data, const QString& title, QWidget* parent)
    : QWidget(parent), m_data(data), m_title(title), m_theme(Theme::light()) {
    setFocusPolicy(Qt::StrongFocus);
    buildPlot();
    m_hands = std::make_unique<PlotHands>(m_plot, time(), static_cast<PlotHandsTarget*>(this));
    m_plot->installEventFilter(this);
    applyTheme();

    connect(m_data, &RunData::measuredChanged, this, &TimePlot::requestDraw);
    connect(m_data, &RunData::predictedChanged, this, &TimePlot::requestDraw);
    connect(time(), &TimeState::visibleChanged, this, &TimePlot::requestDraw);
    connect(time(), &TimeState::runChanged, this, &TimePlot::requestDraw);
    connect(time(), &TimeState::cursorChanged, this, &TimePlot::requestOverlay);
    connect(time(), &TimeState::selectionChanged, this, &TimePlot::requestOverlay);
    connect(time(), &TimeState::notesChanged, this, &TimePlot::requestOverlay);
    connect(time(), &TimeState::hoverChanged, this, &TimePlot::requestOverlay);
}

TimePlot::~TimePlot() = default;

void TimePlot::buildPlot() {
    m_plot = new QCustomPlot(this);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setNoAntialiasingOnDrag(false);
    m_plot->setNotAntialiasedElements(QCP::aeAll);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);

    m_plot->plotLayout()->setMargins({});
    m_area = m_plot->axisRect();
    m_area->setAutoMargins(QCP::msNone);
    m_plot->xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new TimeTicker));
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new ByteTicker));
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setSubTicks(false);
        axis->setTickPen(Qt::NoPen);
        axis->setTickLength(0, 0);
        axis->setTickLabelPadding(5);
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->grid()->setSubGridVisible(false);
    }
    m_plot->yAxis->setBasePen(Qt::NoPen);

    m_content = new PaintedLayer(
        m_plot, QStringLiteral("main"), PaintedLayer::Area::AxisRect,
        [this](QPainter& painter) { paintContent(painter); });
    m_overlay = new PaintedLayer(
        m_plot, QStringLiteral("overlay"), PaintedLayer::Area::Widget,
        [this](QPainter& painter) { paintOverlay(painter); });
    m_overlayLayer = m_plot->layer(QStringLiteral("overlay"));
    m_overlayLayer->setMode(QCPLayer::lmBuffered);
}

QCPAxis* TimePlot::timeAxis() const {
    return m_plot->xAxis;
}
QCPAxis* TimePlot::valueAxis() const {
    return m_plot->yAxis;
}

void TimePlot::setTheme(const Theme& theme) {
    if (theme == m_theme)
        return;
    m_theme = theme;
    applyTheme();
}

void TimePlot::applyTheme() {
    m_plot->setBackground(m_theme.background);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->grid()->setPen(m_theme.grid);
        axis->setTickLabelColor(m_theme.textMuted);
        axis->setTickLabelFont(font());
    }
    m_plot->xAxis->setBasePen(m_theme.axis);
    applyMargins();
    themeChanged();
    requestDraw();
}

void TimePlot::applyMargins() {
    m_area->setMargins(plotMargins(fontMetrics(), m_timeAxisVisible));
    m_plot->xAxis->setTickLabels(m_timeAxisVisible);
}

void TimePlot::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange)
        applyTheme();
    QWidget::changeEvent(event);
}

void TimePlot::setTimeAxisVisible(bool visible) {
    m_timeAxisVisible = visible;
    applyMargins();
    requestDraw();
}

void TimePlot::setNoteTextVisible(bool visible) {
    m_noteTextVisible = visible;
    requestOverlay();
}

bool TimePlot::exportTo(const QString& path) {
    return savePicture(path, size(), devicePixelRatioF(), m_title, [this](QPainter& painter) {
        drawInto(painter);
    });
}

void TimePlot::drawInto(QPainter& painter) {
    drawAll();
    // QCustomPlot draws into its own kind of painter, so what it draws is recorded first.
    QPicture picture;
    QCPPainter recorder(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    recorder.setMode(QCPPainter::pmNoCaching);
    m_plot->toPainter(&recorder, m_plot->width(), m_plot->height());
    recorder.end();
    painter.drawPicture(0, 0, picture);
}

QSize TimePlot::minimumSizeHint() const {
    return {320, 90};
}
QSize TimePlot::sizeHint() const {
    return {900, 190};
}

QRect TimePlot::plotRect() const {
    return m_area->rect();
}
int TimePlot::plotLeft() const {
    return m_plot->x() + plotMargins(fontMetrics(), false).left();
}
int TimePlot::plotRight() const {
    return m_plot->x() + m_plot->width() - plotMargins(fontMetrics(), false).right();
}

double TimePlot::pixelOf(Nanos t) const {
    const TimeRange v = time()->visible();
    const QRect area = plotRect();
    return area.left() + (t - v.begin).real() / std::max(1.0, v.span().real()) * area.width();
}

double TimePlot::valuePixel(double value) const {
    const QCPRange range = m_plot->yAxis->range();
    const QRect area = plotRect();
    return area.bottom() + 1 - (value - range.lower) / range.size() * area.height();
}

Nanos TimePlot::timeAt(double x) const {
    const QRect area = plotRect();
    const TimeRange v = time()->visible();
    const double share = (x - area.left()) / std::max(1, area.width());
    return v.begin + Nanos(static_cast<std::int64_t>(share * v.span().real()));
}

Nanos TimePlot::timePerPixel() const {
    return Nanos(std::max<std::int64_t>(
        1, time()->visible().span().value / std::max(1, plotRect().width())));
}

QString TimePlot::changeOver(TimeRange) const {
    return {};
}

void TimePlot::setValueRange(double low, double high) {
    m_valueLow = low;
    m_valueHigh = high > low ? high : low + 1;
    if (!m_userValues)
        m_plot->yAxis->setRange(m_valueLow, m_valueHigh);
}

void TimePlot::requestDraw() {
    m_overlayOnly = false;
    m_data->frames()->request(this, [this] { drawRequested(); });
}

void TimePlot::requestOverlay() {
    m_data->frames()->request(this, [this] { drawRequested(); });
}

void TimePlot::drawRequested() {
    if (!isVisible() || m_plot->viewport().isEmpty())
        return; // drawn when it is shown, and has a size
    if (m_overlayOnly)
        m_overlayLayer->replot();
    else
        drawAll();
    m_overlayOnly = true;
}

void TimePlot::drawAll() {
    const TimeRange v = time()->visible();
    m_plot->xAxis->setRange(v.begin.real(), v.end.real());
    m_plot->xAxis->ticker()->setTickCount(std::max(2, plotRect().width() / kTimeTickPx));
    m_plot->yAxis->ticker()->setTickCount(std::max(2, plotRect().height() / kValueTickPx));
    prepare();
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
}

void TimePlot::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    requestDraw();
}

void TimePlot::hideEvent(QHideEvent* event) {
    HoverCard::dismiss(this);
    QWidget::hideEvent(event);
}

void TimePlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    requestDraw();
}

void TimePlot::keyPressEvent(QKeyEvent* event) {
    if (!m_hands->handleKey(event))
        QWidget::keyPressEvent(event);
}

bool TimePlot::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_plot) {
        if (event->type() == QEvent::Resize) {
            if (static_cast<QResizeEvent*>(event)->size().isEmpty())
                return true; // QCustomPlot would draw into nothing
            requestDraw(); // the plot has its final size only now
        }
        if (m_hands->handle(event))
            return true;
    }
    return QWidget::eventFilter(watched, event);
}

QRect TimePlot::handsArea() const {
    return plotRect();
}
bool TimePlot::overValueAxis(QPointF position) const {
    return m_valueZoomable && position.x() < plotRect().left();
}
Nanos TimePlot::handsTimeAt(double x) const {
    return timeAt(x);
}
double TimePlot::handsPixelOf(Nanos t) const {
    return pixelOf(t);
}

void TimePlot::zoomValues(double y, double factor) {
    const double at = m_plot->yAxis->pixelToCoord(y);
    const QCPRange r = m_plot->yAxis->range();
    const double low = std::max(m_valueLow, at - (at - r.lower) * factor);
    const double high = std::min(m_valueHigh, at + (r.upper - at) * factor);
    if (high - low < (m_valueHigh - m_valueLow) * 1e-5)
        return;
    m_userValues = {low, high};
    m_plot->yAxis->setRange(low, high);
    requestDraw();
}

void TimePlot::resetValues() {
    m_userValues.reset();
    m_plot->yAxis->setRange(m_valueLow, m_valueHigh);
    requestDraw();
}

void TimePlot::pointerMoved(QPointF position) {
    if (!plotRect().contains(position.toPoint())) {
        pointerLeft();
        return;
    }
    const Nanos t = timeAt(position.x());
    time()->setCursor(t);
    const std::optional<Hit> hit = hitAt(position);
    time()->setHovered(hit ? hit->item : Item{});
    if (m_hands->isDragging()) {
        HoverCard::dismiss(this);
        return;
    }
    HoverCard::of(this)->show(
        m_theme, m_plot->mapToGlobal(position.toPoint()), hit ? hit->text : QString());
    emit statusChanged(statusText(t, hit));
}

QString TimePlot::statusText(Nanos t, const std::optional<Hit>& hit) const {
    QString text = momentText(t);
    if (hit)
        text += QStringLiteral("  \u00b7  ") + oneLine(hit->text);
    if (time()->selection())
        return text + QStringLiteral("  \u00b7  ") +
               tr("Enter zooms to the selection, F filters by it, Esc clears it");
    if (hit && !hit->activation.isEmpty())
        return text + QStringLiteral("  \u00b7  ") + tr("click for the reason");
    return text + QStringLiteral("  \u00b7  ") + tr("wheel zooms, drag selects, right drag pans");
}

void TimePlot::pointerLeft() {
    if (m_data) // a page may lose it before its widgets
        time()->setHovered({});
    HoverCard::dismiss(this);
}

void TimePlot::clicked(QPointF position) {
    const std::optional<Hit> hit = hitAt(position);
    if (hit)
        emit itemActivated(
            hit->item, hit->time, hit->activation.isEmpty() ? oneLine(hit->text) : hit->activation);
    else
        time()->setSelection(std::nullopt);
}

void TimePlot::doubleClicked(QPointF position) {
    const std::optional<Hit> hit = hitAt(position);
    const std::optional<TimeRange> range =
        hit && hit->fit && !hit->fit->empty() ? hit->fit : std::nullopt;
    if (!range) {
        time()->home();
        return;
    }
    const Nanos margin(range->span().value / 8);
    time()->zoomTo({range->begin - margin, range->end + margin});
}

QString TimePlot::csv() const {
    const trace::Trace* shown = m_data->shown();
    if (!shown)
        return {};
    return QString::fromStdString(csvOf(*m_data->shownIndex(), shown->legend, time()->visible()));
}

void TimePlot::contextMenu(QPoint globalPosition) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setObjectName(QStringLiteral("plot.menu"));
    const auto add = [menu](const QString& text, bool enabled, auto&& act) {
        QAction* action = menu->addAction(text);
        action->setEnabled(enabled);
        QObject::connect(action, &QAction::triggered, menu, act);
    };
    TimeState* state = time();
    const auto selection = state->selection();
    add(tr("Zoom to the selection\tEnter"), selection.has_value(),
        [state] { state->zoomToSelection(); });
    add(tr("Filter by the selection\tF"), selection.has_value(), [state, selection] {
        if (selection)
            state->pushFilter(*selection);
    });
    menu->addSeparator();
    add(tr("Show all\tHome"), !state->showsAll(), [state] { state->home(); });
    add(tr("Back\tBackspace"), state->canGoBack(), [state] { state->back(); });
    add(tr("Fit the values"), m_userValues.has_value(), [this] { resetValues(); });
    menu->addSeparator();
    add(tr("Copy the picture"), true, [this] { QGuiApplication::clipboard()->setPixmap(grab()); });
    add(tr("Copy as CSV"), m_data->shownIndex() != nullptr,
        [this] { QGuiApplication::clipboard()->setText(csv()); });
    emit contextMenuAboutToShow(menu);
    menu->popup(globalPosition);
}

} // namespace shardscope::ui
