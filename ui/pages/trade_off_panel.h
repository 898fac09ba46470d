// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/replay/tune_job.h"
#include "app/replay/what_if.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace shardscope::ui {

class ParetoChart;
struct Theme;

/// The best settings of this model on this board, as a chart of memory against time: the search
/// that finds them, and its points, which set the knobs.
class TradeOffPanel : public QWidget {
    Q_OBJECT
public:
    TradeOffPanel(app::TuneJob* tune, app::WhatIf* whatIf, QWidget* parent = nullptr);
    ParetoChart* chart() const { return m_chart; }
    void setTheme(const Theme& theme);
    /// Starts the search, or ends the one that goes on.
    void search();
    /// Errors of the predictions on this board as shares, drawn as whiskers; 0: not known.
    void setErrors(double peakShare, double tokenShare);

private:
    QWidget* makeTools();
    void showFront();
    void showRunning();
    void showPrediction();
    void showPoint(int index);
    void take(int index);
    void forget();

    app::TuneJob* m_tune;
    app::WhatIf* m_whatIf;
    plan::RunConfig m_start; ///< of the search whose points are shown
    ParetoChart* m_chart;
    QPushButton* m_search = nullptr;
    QComboBox* m_accuracy = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_word = nullptr;
};

} // namespace shardscope::ui
