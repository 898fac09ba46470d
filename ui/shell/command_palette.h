// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "ui/kit/commands.h"

class QLineEdit;
class QTreeWidget;

namespace shardscope::ui {

/// Finds a command by the words of its name and runs it.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    CommandPalette(const ActionTable& actions, QWidget* parent);
    /// At the upper middle of the parent, empty.
    void popUp();

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void filter(const QString& text);
    void runCurrent();

    QLineEdit* m_text;
    QTreeWidget* m_list;
};

} // namespace shardscope::ui
