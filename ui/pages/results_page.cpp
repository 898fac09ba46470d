// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/results_page.h"

#include <QApplication>
#include <QDataStream>
#include <QDockWidget>
#include <QFileDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTime>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/kit/parts.h"
#include "ui/pages/chip_row.h"
#include "ui/pages/costs_panel.h"
#include "ui/pages/dock_title.h"
#include "ui/pages/events_panel.h"
#include "ui/pages/facts_bar.h"
#include "ui/pages/infeasible_view.h"
#include "ui/pages/notes_row.h"
#include "ui/pages/playback_bar.h"
#include "ui/pages/runs_panel.h"
#include "ui/plot/arena_map_view.h"
#include "ui/plot/board_state_view.h"
#include "ui/plot/lanes_view.h"
#include "ui/plot/layout_strip.h"
#include "ui/plot/overview_strip.h"
#include "ui/plot/picture_file.h"
#include "ui/plot/ram_timeline_view.h"
#include "ui/plot/token_latency_view.h"

namespace shardscope::ui {
namespace {

constexpr int kWhatIfWidth = 308;
constexpr int kRunsWidth = 206;

} // namespace

ResultsPage::ResultsPage(const ResultsParts& parts, QWidget* parent)
    : QMainWindow(parent), m_parts(parts), m_banner(new Banner),
      m_facts(new FactsBar(parts.document, parts.whatIf)), m_chips(new ChipRow(m_data.time())),
      m_noteRow(new NotesRow(m_data.time())) {
    setWindowFlags(Qt::Widget);
    setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AnimatedDocks);
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_facts);
    auto* message = new QVBoxLayout;
    message->setContentsMargins(12, 0, 12, 0);
    message->addWidget(m_banner);
    column->addLayout(message);
    column->addWidget(m_chips);
    column->addWidget(m_noteRow);
    m_splitter = new QSplitter(Qt::Vertical);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setHandleWidth(1);
    m_splitter->addWidget(makeViews());
    m_splitter->addWidget(makeTabs());
    m_splitter->setStretchFactor(0, 1);
    connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_splitByHand = true; });
    column->addWidget(m_splitter, 1);
    setCentralWidget(centre);

    m_runsPanel = new RunsPanel(parts.runs);
    m_whatIfPanel = new WhatIfPanel({parts.whatIf, parts.policies, parts.tune});
    m_runsDock = makeDock(tr("Runs"), "dock.runs", m_runsPanel);
    m_whatIfDock = makeDock(tr("What-if"), "dock.whatif", m_whatIfPanel);
    addDockWidget(Qt::LeftDockWidgetArea, m_runsDock);
    addDockWidget(Qt::RightDockWidgetArea, m_whatIfDock);
    restoreDefaultLayout();

    connectDocument();
    connectPlayback();
    connect(m_parts.whatIf, &app::WhatIf::predictionChanged, this, &ResultsPage::showPrediction);
    connect(m_infeasible, &InfeasibleView::nearestClicked, m_whatIfPanel, &WhatIfPanel::useNearest);
    applyTheme();
    showDocument();
}

QDockWidget* ResultsPage::makeDock(const QString& title, const char* name, QWidget* content) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(QLatin1String(name));
    dock->setTitleBarWidget(new DockTitle(dock));
    dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    dock->setWidget(content);
    return dock;
}

QWidget* ResultsPage::makeViews() {
    auto* box = frame("panel");
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_overview = new OverviewStrip(&m_data);
    column->addWidget(m_overview);
    m_viewSplitter = new QSplitter(Qt::Vertical);
    m_viewSplitter->setHandleWidth(1);
    m_viewSplitter->setObjectName(QStringLiteral("results.views"));
    m_boardState = new BoardStateView(&m_data);
    m_boardState->hide();
    m_views = {
        new RamTimelineView(&m_data), new ArenaMapView(&m_data), new LanesView(&m_data),
        m_boardState, new TokenLatencyView(&m_data)};
    for (TimePlot* view : m_views) {
        view->setTimeAxisVisible(view == m_views.back());
        view->setNoteTextVisible(view == m_views.front());
        m_viewSplitter->addWidget(view);
        connect(view, &TimePlot::statusChanged, this, &ResultsPage::statusChanged);
        connect(
            view, &TimePlot::itemActivated, this,
            [this](const Item&, base::Nanos, const QString& text) { showReason(text); });
        connect(view, &TimePlot::contextMenuAboutToShow, this, [this, view](QMenu* menu) {
            menu->addAction(tr("Save the picture..."), this, [this, view] { savePicture(view); });
        });
    }
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_viewSplitter);
    m_infeasible = new InfeasibleView;
    m_stack->addWidget(m_infeasible);
    column->addWidget(m_stack, 1);
    m_layoutStrip = new LayoutStrip(&m_data);
    connect(
        m_layoutStrip, &LayoutStrip::itemActivated, this,
        [this](const Item&, base::Nanos, const QString& text) { showReason(text); });
    column->addWidget(m_layoutStrip);
    column->addWidget(new PlaybackBar(m_parts.playback, *m_parts.actions));
    return box;
}

void ResultsPage::connectDocument() {
    auto* document = m_parts.document;
    connect(document, &app::RunDocument::replaced, this, &ResultsPage::showDocument);
    connect(document, &app::RunDocument::stateChanged, this, &ResultsPage::showState);
    connect(document, &app::RunDocument::eventsAppended, this, [this] {
        m_data.eventsAppended();
        m_events->eventsAppended();
        noteChanges();
    });
    connect(document, &app::RunDocument::transcriptChanged, this, [this] {
        m_transcript->setPlainText(m_parts.document->transcript().trimmed());
        m_transcript->moveCursor(QTextCursor::End);
    });
}

void ResultsPage::connectPlayback() {
    connect(m_parts.playback, &app::Playback::positionChanged, this, [this](base::Nanos at) {
        if (m_moving || m_parts.playback->isEmpty())
            return;
        m_moving = true;
        m_data.time()->setCursor(at);
        m_data.time()->reveal(at);
        m_moving = false;
    });
    connect(m_data.time(), &TimeState::cursorChanged, this, [this] {
        if (m_moving || !m_data.time()->cursor())
            return;
        m_moving = true;
        m_parts.playback->seek(*m_data.time()->cursor());
        m_moving = false;
    });
}

void ResultsPage::showDocument() {
    const auto* document = m_parts.document;
    m_notes = 0;
    m_dropped = 0;
    m_data.setMeasured(&document->trace());
    m_events->model()->setTrace(&document->trace());
    m_transcript->setPlainText(document->transcript().trimmed());
    m_log->clear();
    m_reason->setFullText({});
    showState();
    showPrediction();
    noteChanges();
}

void ResultsPage::showState() {
    const auto* document = m_parts.document;
    const bool live = document->state() == app::RunState::Running;
    const trace::Trace* shown =
        document->state() == app::RunState::Empty ? nullptr : &document->trace();
    if (m_data.measured() != shown) {
        m_data.setMeasured(shown);
        m_events->model()->setTrace(shown);
    }
    const bool over = !live && document->state() != app::RunState::Empty;
    m_data.setLive(live);
    m_moving = true; // the replay starts at the begin, the cursor nowhere
    m_parts.playback->setTrace(over ? &document->trace() : nullptr);
    m_moving = false;
    m_replayed.reset();
    m_compared = false;
    showLimits();
    if (!document->errorLine().isEmpty()) {
        m_banner->showError(document->errorLine());
        log(document->errorLine());
    } else {
        m_banner->showError({});
    }
    showPrediction();
}

void ResultsPage::showPrediction() {
    const auto& prediction = m_parts.whatIf->prediction();
    m_data.setPredicted(prediction.trace, prediction.index);
    // A hand waits for this picture: it does not wait for the next frame.
    m_data.frames()->flush();
    showLimits();
    const bool measured = m_parts.document->state() != app::RunState::Empty;
    const bool drawn = measured || prediction.trace;
    m_overview->setVisible(drawn);
    m_layoutStrip->setVisible(drawn);
    if (!measured)
        replayPlan(prediction.trace);
    if (drawn)
        return m_stack->setCurrentIndex(0);
    if (prediction.infeasible)
        m_infeasible->show(*prediction.infeasible);
    else if (prediction.error)
        m_infeasible->showMessage(
            tr("This cannot be planned"), QString::fromStdString(prediction.error->line()));
    else
        m_infeasible->showMessage(
            tr("No run is open"),
            tr("Run the sample, open a recording, or choose a model and a board in What-if."));
    m_stack->setCurrentIndex(1);
}

/// Without a run the plan itself can be replayed, from where the cursor stands.
void ResultsPage::replayPlan(std::shared_ptr<const trace::Trace> trace) {
    const base::Nanos at = m_parts.playback->position();
    m_moving = true;
    m_parts.playback->setTrace(trace.get());
    m_parts.playback->seek(at);
    m_moving = false;
    m_replayed = std::move(trace);
}

void ResultsPage::applyTheme() {
    const Theme theme = Theme::fromPalette(QApplication::palette());
    for (TimePlot* view : m_views)
        view->setTheme(theme);
    m_overview->setTheme(theme);
    m_layoutStrip->setTheme(theme);
    m_whatIfPanel->setTheme(theme);
    m_costs->setTheme(theme);
    m_facts->refresh();
}

void ResultsPage::savePicture(TimePlot* view) {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save %1").arg(view->title()), view->title().toLower() + QStringLiteral(".png"),
        pictureFilter());
    if (!path.isEmpty() && !view->exportTo(path))
        m_banner->showError(tr("%1: cannot be written; choose another folder").arg(path));
}

void ResultsPage::focusNextPane() {
    const std::initializer_list<QWidget*> panes = {
        m_runsPanel, m_viewSplitter, m_tabs, m_whatIfPanel};
    const auto holds = [](QWidget* pane) {
        QWidget* focus = QApplication::focusWidget();
        return focus && (focus == pane || pane->isAncestorOf(focus));
    };
    const auto* current = std::find_if(panes.begin(), panes.end(), holds);
    for (std::size_t i = 1; i <= panes.size(); ++i) {
        const auto at = static_cast<std::size_t>(current - panes.begin());
        QWidget* pane = *(panes.begin() + (current == panes.end() ? i - 1 : at + i) % panes.size());
        if (!pane->isVisible())
            continue;
        // The first thing in it that takes keys.
        for (QWidget* inside = pane->nextInFocusChain(); inside != pane;
             inside = inside->nextInFocusChain())
            if (pane->isAncestorOf(inside) && inside->isVisible() && inside->isEnabled() &&
                inside->focusPolicy() & Qt::TabFocus)
                return inside->setFocus(Qt::TabFocusReason);
    }
}

void ResultsPage::addNote() {
    if (!m_noteRow->beginNote())
        emit statusChanged(
            tr("Drag a range, or point at a moment, then press M to write about it."));
}

bool ResultsPage::exportCharts(const QString& path) {
    QSize all(m_viewSplitter->width(), m_overview->height());
    for (const TimePlot* view : m_views)
        all.rheight() += view->isHidden() ? 0 : view->height();
    return ui::savePicture(
        path, all, devicePixelRatioF(), m_parts.document->title(), [&](QPainter& p) {
            m_overview->drawInto(p);
            p.translate(0, m_overview->height());
            for (TimePlot* view : m_views) {
                view->drawInto(p);
                p.translate(0, view->height());
            }
        });
}

QByteArray ResultsPage::layoutState() const {
    QByteArray all;
    QDataStream stream(&all, QIODevice::WriteOnly);
    stream << saveState() << m_splitter->saveState() << m_viewSplitter->saveState();
    return all;
}

void ResultsPage::restoreLayout(const QByteArray& state) {
    QByteArray docks, outer, views;
    QDataStream stream(state);
    stream >> docks >> outer >> views;
    if (stream.status() != QDataStream::Ok || !restoreState(docks))
        return restoreDefaultLayout();
    m_placed = m_splitByHand = true;
    m_splitter->restoreState(outer);
    m_viewSplitter->restoreState(views);
}

void ResultsPage::restoreDefaultLayout() {
    addDockWidget(Qt::LeftDockWidgetArea, m_runsDock);
    addDockWidget(Qt::RightDockWidgetArea, m_whatIfDock);
    m_runsDock->show();
    m_whatIfDock->show();
    resizeDocks({m_runsDock, m_whatIfDock}, {kRunsWidth, kWhatIfWidth}, Qt::Horizontal);
    m_splitByHand = false;
    giveTabsRoom();
    m_viewSplitter->setSizes({165, 140, 95, 80, 135});
    m_boardState->hide();
}

void ResultsPage::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    // Docks take a width only once there is a layout to take it from.
    if (!m_placed)
        resizeDocks({m_runsDock, m_whatIfDock}, {kRunsWidth, kWhatIfWidth}, Qt::Horizontal);
    if (!m_placed)
        giveTabsRoom();
    m_placed = true;
}

void ResultsPage::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        if (m_data.time()->selection() || m_data.time()->canGoBack())
            m_data.time()->clear();
        else if (m_parts.document->state() == app::RunState::Running)
            emit stopAsked();
        return;
    }
    QMainWindow::keyPressEvent(event);
}

} // namespace shardscope::ui
