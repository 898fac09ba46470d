// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

#include "app/replay/playback.h"
#include "app/replay/run_document.h"
#include "app/replay/what_if.h"
#include "ui/kit/commands.h"
#include "ui/models/runs_model.h"
#include "ui/pages/what_if_panel.h"
#include "ui/state/run_data.h"

class QDockWidget;
class QPlainTextEdit;
class QSplitter;
class QStackedWidget;
class QTabWidget;

namespace shardscope::ui {

class Banner;
class ChipRow;
class CostsPanel;
class ElidedLabel;
class EventsPanel;
class FactsBar;
class InfeasibleView;
class OverviewStrip;
class PredictionPanel;
class LayoutStrip;
class NotesRow;
class RunsPanel;
class TimePlot;

/// What the page shows and moves; owned by the window.
struct ResultsParts {
    app::RunDocument* document;
    app::WhatIf* whatIf;
    app::PolicyCosts* policies;
    app::TuneJob* tune;
    app::Playback* playback;
    RunsModel* runs;
    const ActionTable* actions;
};

/// A run in its views, with What-if to the right and the runs to the left. It is a QMainWindow
/// within the window, for its docks.
class ResultsPage : public QMainWindow {
    Q_OBJECT
public:
    explicit ResultsPage(const ResultsParts& parts, QWidget* parent = nullptr);

    RunData* data() { return &m_data; }
    Banner* banner() const { return m_banner; }
    FactsBar* facts() const { return m_facts; }
    WhatIfPanel* whatIfPanel() const { return m_whatIfPanel; }
    RunsPanel* runsPanel() const { return m_runsPanel; }
    QDockWidget* whatIfDock() const { return m_whatIfDock; }
    QDockWidget* runsDock() const { return m_runsDock; }

    void applyTheme();
    void log(const QString& text);
    void findEvents();
    void showTranscript();
    /// The chart of free memory, temperature and clock; hidden at first.
    TimePlot* boardState() const { return m_boardState; }
    /// Moves the keys on: runs, charts, tables, What-if.
    void focusNextPane();
    /// Opens the line for a note; says what to do where nothing is selected.
    void addNote();
    NotesRow* notes() const { return m_noteRow; }
    /// Writes all charts, one below the other, into one file; false where that fails.
    bool exportCharts(const QString& path);
    /// The tab that holds the run against its prediction.
    void showComparison();
    void showCosts();
    CostsPanel* costsPanel() const { return m_costs; }
    PredictionPanel* predictionPanel() const { return m_prediction; }
    QByteArray layoutState() const;
    void restoreLayout(const QByteArray& state);
    void restoreDefaultLayout();

signals:
    void statusChanged(const QString& text);
    void stopAsked();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeViews();
    QWidget* makeTabs();
    QDockWidget* makeDock(const QString& title, const char* name, QWidget* content);
    void connectDocument();
    void connectPlayback();
    void showDocument();
    void showState();
    void showPrediction();
    void showLimits();
    void noteChanges();
    void showReason(const QString& text);
    void savePicture(TimePlot* view);
    void replayPlan(std::shared_ptr<const trace::Trace> trace);
    void giveTabsRoom();

    ResultsParts m_parts;
    RunData m_data;
    Banner* m_banner;
    FactsBar* m_facts;
    ChipRow* m_chips;
    NotesRow* m_noteRow;
    OverviewStrip* m_overview = nullptr;
    LayoutStrip* m_layoutStrip = nullptr;
    std::vector<TimePlot*> m_views;
    TimePlot* m_boardState = nullptr; ///< one of them
    QStackedWidget* m_stack = nullptr; ///< views, or why there are none
    InfeasibleView* m_infeasible = nullptr;
    QSplitter* m_viewSplitter = nullptr;
    QSplitter* m_splitter = nullptr;
    QTabWidget* m_tabs = nullptr;
    ElidedLabel* m_reason = nullptr; ///< of what was clicked last
    QPlainTextEdit* m_transcript = nullptr;
    QPlainTextEdit* m_log = nullptr;
    EventsPanel* m_events = nullptr;
    PredictionPanel* m_prediction = nullptr;
    CostsPanel* m_costs = nullptr;
    bool m_compared = false; ///< m_prediction shows this run
    WhatIfPanel* m_whatIfPanel = nullptr;
    RunsPanel* m_runsPanel = nullptr;
    QDockWidget* m_whatIfDock = nullptr;
    QDockWidget* m_runsDock = nullptr;
    std::size_t m_notes = 0;
    std::uint64_t m_dropped = 0;
    std::shared_ptr<const trace::Trace> m_replayed; ///< the plan that playback has
    bool m_splitByHand = false;
    bool m_placed = false; ///< docks have their widths
    bool m_moving = false; ///< cursor and replay move each other once
};

} // namespace shardscope::ui
