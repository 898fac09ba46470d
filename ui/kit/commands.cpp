// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/commands.h"

#include <QAction>
#include <QKeySequence>
#include <QMenu>
#include <QMenuBar>

namespace shardscope::ui {
namespace {

constexpr Command kCommands[] = {
    {"file.open_model", "File", QT_TR_NOOP("Open model..."), "Ctrl+O",
     QT_TR_NOOP("Plan and run a whisper.cpp model file.")},
    {"file.open_recording", "File", QT_TR_NOOP("Open recording..."), "Ctrl+Shift+O",
     QT_TR_NOOP("Replay a run that was saved as .sst."), false, true},
    {"file.quit", "File", QT_TR_NOOP("Quit"), "Ctrl+Q", QT_TR_NOOP("Close the window.")},
    {"edit.undo", "Edit", QT_TR_NOOP("Undo"), "Ctrl+Z",
     QT_TR_NOOP("Undo the last change of settings, notes or tags, or a delete.")},
    {"edit.redo", "Edit", QT_TR_NOOP("Redo"), "Ctrl+Shift+Z",
     QT_TR_NOOP("Make the change again that was undone."), false, true},
    {"edit.note", "Edit", QT_TR_NOOP("Add note"), "M",
     QT_TR_NOOP("Write a note on the selected range, or at the cursor.")},
    {"run.sample", "Run", QT_TR_NOOP("Run the sample"), "",
     QT_TR_NOOP("Run the bundled model on an emulated small board.")},
    {"run.start", "Run", QT_TR_NOOP("Run these settings"), "Ctrl+Return",
     QT_TR_NOOP("Run the model with the settings of the What-if panel.")},
    {"run.stop", "Run", QT_TR_NOOP("Stop the run"), "",
     QT_TR_NOOP("Stop; what was recorded is kept."), false, true},
    {"boards.add", "Run", QT_TR_NOOP("Add a board..."), "",
     QT_TR_NOOP("Reach a board over SSH, and test the way to it step by step.")},
    {"whatif.reset", "Run", QT_TR_NOOP("Reset What-if"), "Ctrl+R",
     QT_TR_NOOP("Back to the settings of the run.")},
    {"play.toggle", "Replay", QT_TR_NOOP("Play or pause"), "P",
     QT_TR_NOOP("Replay the run at the chosen speed.")},
    {"play.step_back", "Replay", QT_TR_NOOP("Step back"), ",",
     QT_TR_NOOP("To the event before the cursor.")},
    {"play.step_forward", "Replay", QT_TR_NOOP("Step forward"), ".",
     QT_TR_NOOP("To the event after the cursor.")},
    {"view.home", "View", QT_TR_NOOP("Show all"), "Home", QT_TR_NOOP("Zoom out to the whole run.")},
    {"view.back", "View", QT_TR_NOOP("Back"), "Alt+Left",
     QT_TR_NOOP("Undo the last zoom or filter.")},
    {"view.find", "View", QT_TR_NOOP("Find events"), "Ctrl+F; /",
     QT_TR_NOOP("Search the events table."), false, true},
    {"view.whatif", "View", QT_TR_NOOP("What-if panel"), "Ctrl+1",
     QT_TR_NOOP("Show or hide the What-if panel."), true},
    {"view.runs", "View", QT_TR_NOOP("Runs panel"), "Ctrl+2",
     QT_TR_NOOP("Show or hide the list of runs."), true},
    {"view.board", "View", QT_TR_NOOP("State of the board"), "Ctrl+3",
     QT_TR_NOOP("Show or hide free memory, temperature and clock over time."), true},
    {"view.next_pane", "View", QT_TR_NOOP("Next pane"), "F6",
     QT_TR_NOOP("Move the keys to the runs, the charts, the tables or What-if.")},
    {"view.export", "View", QT_TR_NOOP("Export the charts..."), "Ctrl+E",
     QT_TR_NOOP("Save all charts as PNG, SVG or PDF.")},
    {"view.restore", "View", QT_TR_NOOP("Restore default layout"), "",
     QT_TR_NOOP("Put panels and splitters back."), false, true},
    {"view.theme_auto", "View", QT_TR_NOOP("Theme of the desktop"), "",
     QT_TR_NOOP("Light or dark as the desktop is.")},
    {"view.theme_light", "View", QT_TR_NOOP("Light theme"), "", QT_TR_NOOP("Always light.")},
    {"view.theme_dark", "View", QT_TR_NOOP("Dark theme"), "", QT_TR_NOOP("Always dark.")},
    {"go.start", "Go", QT_TR_NOOP("Start"), "Alt+1", QT_TR_NOOP("Recent runs and ways to begin.")},
    {"go.boards", "Go", QT_TR_NOOP("Boards"), "Alt+2", QT_TR_NOOP("What each board can do.")},
    {"go.results", "Go", QT_TR_NOOP("Results"), "Alt+3", QT_TR_NOOP("The run in its views.")},
    {"go.compare", "Go", QT_TR_NOOP("Compare"), "Alt+4", QT_TR_NOOP("Two runs side by side.")},
    {"go.settings", "Go", QT_TR_NOOP("Settings"), "Alt+5",
     QT_TR_NOOP("Theme, font size, folders.")},
    {"runs.undo_delete", "Runs", QT_TR_NOOP("Undo delete"), "",
     QT_TR_NOOP("Bring back the run that was deleted last.")},
    {"runs.compare", "Runs", QT_TR_NOOP("Compare with selected run"), "",
     QT_TR_NOOP("Open run against the run selected in the list.")},
    {"help.palette", "Help", QT_TR_NOOP("All commands..."), "Ctrl+Shift+P",
     QT_TR_NOOP("Find and run a command by its name.")},
    {"help.keys", "Help", QT_TR_NOOP("Keys and gestures"), "?",
     QT_TR_NOOP("What keys and mouse do.")},
};

constexpr Gesture kGestures[] = {
    {"Wheel", QT_TR_NOOP("Zoom at the cursor; Ctrl for finer steps")},
    {"W  S", QT_TR_NOOP("Zoom in, zoom out")},
    {"A  D", QT_TR_NOOP("Pan left, pan right")},
    {"Right drag", QT_TR_NOOP("Pan; also the middle button or Shift and wheel")},
    {"Left drag", QT_TR_NOOP("Select a time range")},
    {"Enter", QT_TR_NOOP("Zoom to the selection")},
    {"F", QT_TR_NOOP("Filter by the selection, or fit the item under the cursor")},
    {"Double click", QT_TR_NOOP("Fit the item")},
    {"Backspace", QT_TR_NOOP("Undo zoom or filter")},
    {"Esc", QT_TR_NOOP("Clear the selection, then a zoom step; while running: ask to stop")},
};

} // namespace

std::span<const Command> commands() {
    return kCommands;
}

std::span<const Gesture> gestures() {
    return kGestures;
}

ActionTable::ActionTable(QObject* parent) : QObject(parent) {
    for (const Command& command : commands()) {
        auto* action = new QAction(tr(command.text), this);
        action->setObjectName(QLatin1String(command.id));
        action->setShortcuts(QKeySequence::listFromString(QLatin1String(command.shortcut)));
        action->setToolTip(tr(command.help));
        action->setStatusTip(tr(command.help));
        action->setCheckable(command.checkable);
        m_actions.insert(action->objectName(), action);
        m_order.append(action);
    }
}

QAction* ActionTable::action(const char* id) const {
    QAction* found = m_actions.value(QLatin1String(id));
    Q_ASSERT_X(found, "ActionTable", id);
    if (!found)
        qFatal("no command %s", id);
    return found;
}

void ActionTable::fill(QMenuBar* bar) const {
    QMenu* menu = nullptr;
    const char* name = "";
    for (const Command& command : commands()) {
        if (qstrcmp(name, command.menu) != 0) {
            name = command.menu;
            menu = bar->addMenu(tr(name));
        }
        menu->addAction(action(command.id));
        if (command.endsGroup)
            menu->addSeparator();
    }
}

} // namespace shardscope::ui
