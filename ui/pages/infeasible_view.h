// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "sim_engine/plan/plan.h"

class QLabel;
class QPushButton;

namespace shardscope::ui {

/// In the place of charts: what the settings need, what is allowed, and what would fit.
class InfeasibleView : public QWidget {
    Q_OBJECT
public:
    explicit InfeasibleView(QWidget* parent = nullptr);
    void show(const plan::Infeasible& why);
    /// A sentence where there is nothing to draw for another reason.
    void showMessage(const QString& title, const QString& text);

signals:
    void nearestClicked();

private:
    class Bar;
    QLabel* m_title;
    QLabel* m_text;
    Bar* m_bar;
    QLabel* m_nearest;
    QPushButton* m_use;
};

} // namespace shardscope::ui
