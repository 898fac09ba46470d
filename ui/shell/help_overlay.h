// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/kit/commands.h"

namespace shardscope::ui {

/// Keys and gestures over the whole window; any click or key closes it.
class HelpOverlay : public QWidget {
    Q_OBJECT
public:
    HelpOverlay(const ActionTable& actions, QWidget* window);
    void popUp();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace shardscope::ui
