// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/compare_model.h"
#include "ui/models/runs_model.h"
#include "ui/state/run_data.h"
#include "ui/state/theme.h"

class QComboBox;
class QFrame;
class QLabel;
class QStackedWidget;
class QTableView;

namespace shardscope::ui {

class TimePlot;

/// Two stored runs: their curves over each other, a table of figures and differing settings, and
/// their texts.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    explicit ComparePage(RunsModel* runs, QWidget* parent = nullptr);
    void compare(const QString& first, const QString& second);
    /// The recordings that curvesWanted() asked for; null where one cannot be read.
    void showCurves(
        const QString& first, const QString& second, std::shared_ptr<const trace::Trace> a,
        std::shared_ptr<const trace::Trace> b);
    RunData* curves() { return &m_curves; }
    void setTheme(const Theme& theme);

signals:
    void curvesWanted(const QString& first, const QString& second);
    void statusChanged(const QString& text);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeChoices();
    QWidget* makeCurves();
    QWidget* makeTable();
    QWidget* makeTexts();
    void askForCurves();
    void fillChoices();
    void showRuns();

    RunsModel* m_runs;
    RunData m_curves;
    std::shared_ptr<const trace::Trace> m_firstTrace; ///< that m_curves shows
    QString m_curvesOf;                               ///< both ids, once they were asked for
    std::vector<TimePlot*> m_views;
    QFrame* m_curveCard = nullptr;
    CompareModel* m_model;
    QComboBox* m_first;
    QComboBox* m_second;
    QWidget* m_choices = nullptr;
    QStackedWidget* m_stack;
    QTableView* m_table;
    QLabel* m_firstText;
    QLabel* m_secondText;
};

} // namespace shardscope::ui
