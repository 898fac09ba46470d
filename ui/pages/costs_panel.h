// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/state/run_data.h"

class QComboBox;
class QLabel;
class QTreeWidget;

namespace shardscope::ui {

class IcicleView;
struct Theme;

/// Where time or bytes went in what is visible (or selected): an icicle of passes, layers and ops,
/// and the heaviest of them in a list with heat bars.
class CostsPanel : public QWidget {
    Q_OBJECT
public:
    explicit CostsPanel(RunData* data, QWidget* parent = nullptr);
    IcicleView* icicle() const { return m_icicle; }
    void setTheme(const Theme& theme);

signals:
    void statusChanged(const QString& text);

private:
    QWidget* makeTools();
    QTreeWidget* makeList();
    void showList();

    RunData* m_data;
    IcicleView* m_icicle;
    QComboBox* m_cost = nullptr;
    QLabel* m_about = nullptr;
    QTreeWidget* m_list = nullptr;
};

} // namespace shardscope::ui
