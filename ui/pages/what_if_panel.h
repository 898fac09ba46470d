// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "app/replay/policy_costs.h"
#include "app/replay/tune_job.h"
#include "app/replay/what_if.h"
#include "ui/pages/figure_tile.h"
#include "ui/pages/knob_list.h"

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTabWidget;

namespace shardscope::ui {

class PlanCard;
class PolicyTable;
class TradeOffPanel;
struct Theme;

/// What to plan for: a model and a board. The first model is that of the run, where there is one.
struct PlanningChoices {
    std::vector<std::string> cards; ///< names that model::loadCard takes
    std::vector<plan::BoardProfile> boards;
};

/// Who predicts; owned by the session.
struct WhatIfParts {
    app::WhatIf* whatIf;
    app::PolicyCosts* policies;
    app::TuneJob* tune;
};

/// Every figure with its change against the baseline and its error, and below it the knobs, the
/// trade-off between memory and time, the plan in words, and what the cache policies would cost.
class WhatIfPanel : public QWidget {
    Q_OBJECT
public:
    enum class Tab { Settings, TradeOff, Plan, Policies };

    explicit WhatIfPanel(const WhatIfParts& parts, QWidget* parent = nullptr);

    void setChoices(PlanningChoices choices);
    /// Names the run that is the baseline; empty: planning without one.
    void setRunName(const QString& model, const QString& board);
    void setRunnable(bool runnable, const QString& why);
    /// Where a run of these settings goes: the button's text, and a word about it.
    void setRunTarget(const QString& text, const QString& hint);
    bool isPlanning() const;
    KnobControl* control(std::string_view key) const { return m_knobs->control(key); }
    TradeOffPanel* tradeOff() const { return m_tradeOff; }
    PolicyTable* policies() const { return m_policies; }
    PlanCard* planCard() const { return m_planCard; }
    void showTab(Tab tab);
    void setTheme(const Theme& theme);
    /// What validation has shown for the board that is planned for; empty: nothing yet.
    void setErrors(const PredictionErrors& errors);
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
    QWidget* makeTabs(const WhatIfParts& parts);
    QWidget* makeFoot();
    void planChosen();
    void takeBaseline();
    void showSource();
    void showConfig();
    void showPrediction();
    void showErrors();
    void showHint();

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
    QLabel* m_errorHint = nullptr;
    QTabWidget* m_tabs = nullptr;
    KnobList* m_knobs = nullptr;
    TradeOffPanel* m_tradeOff = nullptr;
    PlanCard* m_planCard = nullptr;
    PolicyTable* m_policies = nullptr;
    PredictionErrors m_errors;
    QPushButton* m_run = nullptr;
    QPushButton* m_reset = nullptr;
    QLabel* m_hint = nullptr;
    QString m_why, m_targetHint;
    bool m_runnable = false;
};

} // namespace shardscope::ui
