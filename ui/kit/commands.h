// SPDX-License-Identifier: GPL-3.0-or-later
// The one list of commands: menus, the palette and the help overlay are made from it.
#pragma once

#include <QHash>
#include <QObject>
#include <span>

class QAction;
class QMenuBar;

namespace shardscope::ui {

struct Command {
    const char* id;       ///< "run.start"
    const char* menu;     ///< the menu and the group in the overlay
    const char* text;     ///< translated where it is shown
    const char* shortcut; ///< portable text, may be empty; "; " between several
    const char* help;     ///< one sentence
    bool checkable = false;
    bool endsGroup = false; ///< a separator follows in the menu
};

/// What hands do in the time area; shown in the overlay beside the commands.
struct Gesture {
    const char* keys;
    const char* effect;
};

std::span<const Command> commands();
std::span<const Gesture> gestures();

/// The QActions of all commands. GUI thread only.
class ActionTable : public QObject {
    Q_OBJECT
public:
    explicit ActionTable(QObject* parent);

    /// Aborts for an id that is not in the list: a bug.
    QAction* action(const char* id) const;
    /// In the order of the list.
    const QList<QAction*>& all() const { return m_order; }
    void fill(QMenuBar* bar) const;

private:
    QHash<QString, QAction*> m_actions;
    QList<QAction*> m_order;
};

} // namespace shardscope::ui
