// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/kit/commands.h"
#include "ui/models/runs_model.h"

class QGridLayout;
class QLabel;

namespace shardscope::ui {

class Banner;

/// Ways to begin, and the recent runs.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(const ActionTable& actions, RunsModel* runs, QWidget* parent = nullptr);
    Banner* banner() const { return m_banner; }

signals:
    void runOpened(const QString& uuid);

private:
    QWidget* makeHead();
    QWidget* makeWays(const ActionTable& actions);
    QWidget* makeEmpty();
    void showRuns();

    RunsModel* m_runs;
    Banner* m_banner;
    QLabel* m_count = nullptr;
    QWidget* m_cards = nullptr;
    QWidget* m_empty = nullptr;
    QGridLayout* m_grid = nullptr;
};

} // namespace shardscope::ui
