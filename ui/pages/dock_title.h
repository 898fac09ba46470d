// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QDockWidget;

namespace shardscope::ui {

/// The title of a dock: its name and a close button; it is dragged by the rest.
class DockTitle : public QWidget {
    Q_OBJECT
public:
    explicit DockTitle(QDockWidget* dock);
};

} // namespace shardscope::ui
