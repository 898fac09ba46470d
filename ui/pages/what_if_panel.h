// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "app/replay/what_if.h"
#include "ui/pages/figure_tile.h"
#include "ui/pages/knob_controls.h"

class QComboBox;
class QFrame;
class QLabel;
class QPushButton;
class QStackedWidget;

namespace shardscope::ui {

/// What to plan for: a model and a board. The first model is that of the run, where there is one.
struct PlanningChoices {
    std::vector<std::string> cards; ///< names that model::loadCard takes
    std::vector<plan::BoardProfile> boards;
};

/// Sliders and choices for the knobs, and every figure with its change against the baseline.
class WhatIfPanel : public QWidget {
    Q_OBJECT
public:
    WhatIfPanel(app::WhatIf* whatIf, QWidget* parent = nullptr);

    void setChoices(PlanningChoices choices);
    /// Names the run that is the baseline; empty: planning without one.
    void setRunName(const QString& model, const QString& board);
    void setRunnable(bool runnable, const QString& why);
    bool isPlanning() const;
    KnobControl* control(std::string_view key) const;
    /// Takes the settings that the planner names as the nearest that fit.
    void useNearest();

signals:
    void runRequested();
    /// The user wants the baseline of the open run back.
    void runModelChosen();
    /// Plan this built-in card for a board, without a run.
    void planWanted(const QString& card, const shardscope::plan::BoardProfile& board);

private:
    QWidget* makeSource();
    QWidget* makeFigures();
    QWidget* makeKnobs();
    QWidget* makeFoot();
    void planChosen();
    void takeBaseline();
    void showSource();
    void showConfig();
    void showPrediction();
    void edit(const plan::Knob& knob, const std::string& text);

    app::WhatIf* m_whatIf;
    PlanningChoices m_choices;
    bool m_hasRun = false;
    QComboBox* m_model = nullptr;
    QComboBox* m_board = nullptr;
    QStackedWidget* m_figureStack = nullptr;
    std::vector<FigureTile*> m_tiles;
    QLabel* m_needed = nullptr;
    QLabel* m_fits = nullptr;
    QPushButton* m_useNearest = nullptr;
    std::vector<KnobControl*> m_controls;
    QPushButton* m_run = nullptr;
    QPushButton* m_reset = nullptr;
    QLabel* m_hint = nullptr;
    bool m_runnable = false;
};

} // namespace shardscope::ui
