// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>
#include <QTimer>

#include "app/replay/what_if.h"

namespace shardscope::ui {

struct PlanStory;

/// The plan of the What-if settings in words: hash, inputs, and every decision with its reason. It
/// can be selected and copied. Written anew once the settings rest.
class PlanCard : public QTextBrowser {
    Q_OBJECT
public:
    explicit PlanCard(app::WhatIf* whatIf, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void soon();
    void write();

    app::WhatIf* m_whatIf;
    QTimer m_rest;
    bool m_stale = true;
};

} // namespace shardscope::ui
