// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/replay/policy_costs.h"

class QLabel;
class QTreeWidget;

namespace shardscope::ui {

/// What the cache policies would cost side by side; a click takes one.
class PolicyTable : public QWidget {
    Q_OBJECT
public:
    PolicyTable(app::PolicyCosts* costs, app::WhatIf* whatIf, QWidget* parent = nullptr);
    QTreeWidget* list() const { return m_list; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void showCosts();

    app::PolicyCosts* m_costs;
    app::WhatIf* m_whatIf;
    QTreeWidget* m_list;
    QLabel* m_word;
};

} // namespace shardscope::ui
