// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/compare_model.h"
#include "ui/models/runs_model.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QTableView;

namespace shardscope::ui {

/// Two stored runs in a table of figures and differing settings, and their texts.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    explicit ComparePage(RunsModel* runs, QWidget* parent = nullptr);
    void compare(const QString& first, const QString& second);

private:
    QWidget* makeTable();
    QWidget* makeEmpty();
    void fillChoices();
    void showRuns();

    RunsModel* m_runs;
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
