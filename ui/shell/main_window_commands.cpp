// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of the window do.
#include <QAction>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QMessageBox>

#include "ui/kit/parts.h"
#include "ui/pages/boards_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/facts_bar.h"
#include "ui/pages/notes_row.h"
#include "ui/pages/results_page.h"
#include "ui/pages/runs_panel.h"
#include "ui/pages/settings_page.h"
#include "ui/pages/start_page.h"
#include "ui/plot/picture_file.h"
#include "ui/plot/time_plot.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/help_overlay.h"
#include "ui/shell/main_window.h"
#include "ui/shell/remote_boards.h"
#include "ui/shell/ssh_question_card.h"

namespace shardscope::ui {

void MainWindow::connectCommands() {
    const auto on = [this](const char* id, auto&& slot) {
        connect(m_actions.action(id), &QAction::triggered, this, slot);
    };
    on("file.open_model", [this] { openModelDialog(); });
    on("file.open_recording", [this] { openRecordingDialog(); });
    on("file.quit", [this] { close(); });
    on("help.palette", [this] { m_palette->popUp(); });
    on("help.keys", [this] { m_help->popUp(); });
    on("edit.undo", [this] { m_session->undo(); });
    on("edit.redo", [this] { m_session->redo(); });
    on("edit.note", [this] {
        showPage(Page::Results);
        m_results->addNote();
    });
    on("runs.undo_delete", [this] { m_session->undoDelete(); });
    on("runs.compare", [this] {
        m_compare->compare(m_session->document()->uuid(), m_results->runsPanel()->selected());
        showPage(Page::Compare);
    });
    m_actions.action("runs.undo_delete")->setEnabled(false);
    connect(m_session->undoStack(), &QUndoStack::indexChanged, this, &MainWindow::showUndo);
    showUndo();
    connect(m_compare, &ComparePage::curvesWanted, m_session, &Session::readCurves);
    connect(m_session, &Session::curvesRead, m_compare, &ComparePage::showCurves);
    connect(m_compare, &ComparePage::statusChanged, m_status, &QLabel::setText);
    connect(m_start, &StartPage::runOpened, m_session, &Session::openRun);
    connectBoards();
    connect(m_boards, &BoardsPage::fitWanted, m_session, &Session::planModelsFor);
    connect(m_session, &Session::fitKnown, m_boards, &BoardsPage::showFit);
    connect(
        m_boards, &BoardsPage::planRequested, this,
        [this](const QString& name, const QString& card) {
            for (const BoardEntry& board : m_boards->boards())
                if (QString::fromStdString(board.profile.name) == name)
                    m_session->plan(card, board.profile);
        });
    connect(m_settingsPage, &SettingsPage::appearanceChanged, this, &MainWindow::applyAppearance);
    connect(
        m_settingsPage, &SettingsPage::restoreLayoutClicked, m_results,
        &ResultsPage::restoreDefaultLayout);
}

void MainWindow::connectBoards() {
    connect(m_session, &Session::connectionMade, this, [this](app::QuestionBox* questions) {
        askInWindow(*questions, this);
    });
    const bool isKept = m_session->store() != nullptr;
    m_actions.action("boards.add")->setEnabled(isKept);
    if (!isKept)
        return;
    auto* remote = new RemoteBoards(m_session->store(), this);
    connect(remote, &RemoteBoards::noted, m_session, &Session::noted);
    connect(remote, &RemoteBoards::failed, this, &MainWindow::showError);
    connect(m_boards, &BoardsPage::addRequested, remote, &RemoteBoards::add);
    connect(m_boards, &BoardsPage::testRequested, remote, &RemoteBoards::test);
    connect(m_boards, &BoardsPage::measureRequested, remote, &RemoteBoards::measure);
    connect(m_boards, &BoardsPage::removeRequested, remote, &RemoteBoards::remove);
    connect(m_actions.action("boards.add"), &QAction::triggered, this, [this, remote] {
        showPage(Page::Boards);
        remote->add();
    });
}

void MainWindow::connectRunCommands() {
    const auto on = [this](const char* id, auto&& slot) {
        connect(m_actions.action(id), &QAction::triggered, this, slot);
    };
    on("run.sample", [this] { m_session->runSample(); });
    on("run.start", [this] { runFromDock(); });
    on("run.stop", [this] { m_session->controller()->stop(); });
    on("whatif.reset", [this] { m_session->whatIf()->reset(); });
    on("play.toggle", [this] { m_session->playback()->toggle(); });
    on("play.step_back", [this] { m_session->playback()->step(-1); });
    on("play.step_forward", [this] { m_session->playback()->step(1); });
    connect(m_results->facts(), &FactsBar::runClicked, m_session, &Session::runSettings);
    connect(m_results->facts(), &FactsBar::stopClicked, this, [this] {
        m_session->controller()->stop();
    });
    connect(m_results, &ResultsPage::stopAsked, this, &MainWindow::askToStop);
}

void MainWindow::connectViewCommands() {
    const auto on = [this](const char* id, auto&& slot) {
        connect(m_actions.action(id), &QAction::triggered, this, slot);
    };
    TimeState* time = m_results->data()->time();
    on("view.home", [time] { time->home(); });
    on("view.back", [time] { time->back(); });
    on("view.find", [this] {
        showPage(Page::Results);
        m_results->findEvents();
    });
    on("view.board", [this] {
        showPage(Page::Results);
        m_results->boardState()->setVisible(m_actions.action("view.board")->isChecked());
    });
    on("view.next_pane", [this] {
        showPage(Page::Results);
        m_results->focusNextPane();
    });
    on("view.export", [this] { exportCharts(); });
    on("view.restore", [this] {
        m_results->restoreDefaultLayout();
        m_actions.action("view.board")->setChecked(false);
    });
    on("view.theme_auto", [this] { setTheme(ThemeChoice::Auto); });
    on("view.theme_light", [this] { setTheme(ThemeChoice::Light); });
    on("view.theme_dark", [this] { setTheme(ThemeChoice::Dark); });
    const struct {
        const char* id;
        QDockWidget* dock;
    } docks[] = {{"view.whatif", m_results->whatIfDock()}, {"view.runs", m_results->runsDock()}};
    for (const auto& [id, dock] : docks) {
        QAction* action = m_actions.action(id);
        action->setChecked(true);
        connect(action, &QAction::triggered, dock, [this, dock = dock](bool on) {
            showPage(Page::Results);
            dock->setVisible(on);
        });
        connect(dock, &QDockWidget::visibilityChanged, action, [this, action, dock = dock] {
            if (page() == Page::Results)
                action->setChecked(!dock->isHidden());
        });
    }
}

void MainWindow::connectSession() {
    connect(m_session, &Session::failed, this, &MainWindow::showError);
    connect(m_session, &Session::noted, this, [this](const QString& line) {
        m_status->setText(line);
        m_results->log(line);
    });
    connect(m_session, &Session::resultsWanted, this, [this] { showPage(Page::Results); });
    connect(m_session, &Session::boardsChanged, this, &MainWindow::showBoards);
    connect(m_session, &Session::runnableChanged, this, &MainWindow::showRunnable);
    connect(
        m_session->document(), &app::RunDocument::stateChanged, this, &MainWindow::showRunnable);
    // A new run stands in the list from its first frame on: it is the one that is shown.
    connect(
        m_session->runs(), &QAbstractItemModel::modelReset, this,
        [this] { m_results->runsPanel()->select(m_session->document()->uuid()); },
        Qt::QueuedConnection);
    connect(m_session, &Session::audioWanted, this, &MainWindow::openAudioDialog);
    connect(m_session, &Session::deleted, this, [this](const QString& name) {
        m_results->runsPanel()->showUndo(tr("Deleted %1").arg(name));
        m_actions.action("runs.undo_delete")->setEnabled(true);
        showUndo();
    });
    connect(m_session, &Session::undoOver, this, [this] {
        m_results->runsPanel()->hideUndo();
        m_actions.action("runs.undo_delete")->setEnabled(false);
        showUndo();
    });
}

void MainWindow::connectResults() {
    connect(m_results, &ResultsPage::statusChanged, m_status, &QLabel::setText);
    RunsPanel* runs = m_results->runsPanel();
    connect(runs, &RunsPanel::opened, m_session, &Session::openRun);
    connect(runs, &RunsPanel::starClicked, m_session, &Session::star);
    connect(runs, &RunsPanel::tagsEdited, m_session, &Session::setTags);
    connect(m_session, &Session::rangeNotesChanged, this, &MainWindow::showNotes);
    connect(
        m_results->notes(), &NotesRow::notesEdited, this,
        [this](const std::vector<TimeNote>& notes) {
            QList<app::RangeNote> kept;
            for (const TimeNote& note : notes)
                kept.append({note.range.begin, note.range.end, note.text});
            m_session->setRangeNotes(kept);
        });
    connect(runs, &RunsPanel::deleteClicked, m_session, &Session::deleteRun);
    connect(runs, &RunsPanel::undoClicked, m_session, &Session::undoDelete);
    connect(runs, &RunsPanel::compareClicked, this, [this] {
        m_actions.action("runs.compare")->trigger();
    });
    WhatIfPanel* panel = m_results->whatIfPanel();
    connect(m_session->whatIf(), &app::WhatIf::baselineChanged, this, &MainWindow::showRunTarget);
    connect(m_session->whatIf(), &app::WhatIf::baselineChanged, this, &MainWindow::showErrors);
    showRunTarget();
    connect(panel, &WhatIfPanel::runRequested, this, &MainWindow::runFromDock);
    connect(
        m_session->controller(), &app::RunController::ended, this,
        [this](const std::optional<base::Error>& error) {
            if (std::exchange(m_compareWhenBack, false) && !error)
                m_results->showComparison();
        });
    connect(panel, &WhatIfPanel::planWanted, m_session, &Session::plan);
    connect(panel, &WhatIfPanel::runModelChosen, this, [this] {
        m_session->whatIf()->setDocument(m_session->document());
    });
}

void MainWindow::showUndo() {
    const QUndoStack* stack = m_session->undoStack();
    const bool deleted = m_actions.action("runs.undo_delete")->isEnabled();
    QAction* undo = m_actions.action("edit.undo");
    undo->setEnabled(deleted || stack->canUndo());
    undo->setText(
        deleted            ? tr("Undo delete")
        : stack->canUndo() ? tr("Undo %1").arg(stack->undoText())
                           : tr("Undo"));
    QAction* redo = m_actions.action("edit.redo");
    redo->setEnabled(stack->canRedo());
    redo->setText(stack->canRedo() ? tr("Redo %1").arg(stack->redoText()) : tr("Redo"));
}

/// Notes stand in the store; a run that is in none has no notes.
void MainWindow::showNotes() {
    std::vector<TimeNote> notes;
    for (const app::RangeNote& note : m_session->rangeNotes())
        notes.push_back({{note.begin, note.end}, note.text});
    m_results->data()->time()->setNotes(std::move(notes));
}

void MainWindow::exportCharts() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export the charts"), QStringLiteral("run.svg"), pictureFilter());
    if (!path.isEmpty() && !m_results->exportCharts(path))
        m_results->banner()->showError(
            tr("%1: cannot be written as a picture; choose another folder, or the end .png, .svg "
               "or .pdf")
                .arg(path));
}

/// When it is back, the run is held against what was predicted.
void MainWindow::runFromDock() {
    m_compareWhenBack = true;
    m_session->runSettings();
}

void MainWindow::askToStop() {
    const auto answer = QMessageBox::question(
        this, tr("Stop the run?"), tr("What was recorded so far is kept."),
        QMessageBox::Yes | QMessageBox::No, QMessageBox::No);
    if (answer == QMessageBox::Yes)
        m_session->controller()->stop();
}

void MainWindow::openModelDialog() {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open model"), {}, tr("Models (*.bin);;All files (*)"));
    if (!path.isEmpty())
        m_session->openFile(path);
}

void MainWindow::openRecordingDialog() {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open recording"), {}, tr("Recordings (*.sst);;All files (*)"));
    if (!path.isEmpty())
        m_session->openFile(path);
}

void MainWindow::openAudioDialog() {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("What should the model hear?"), {},
        tr("Audio (*.wav *.flac *.ogg *.mp3);;All files (*)"));
    if (path.isEmpty())
        return;
    m_session->setAudio(path);
    m_session->runSettings();
}

} // namespace shardscope::ui
