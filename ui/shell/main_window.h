// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

#include "ui/kit/commands.h"
#include "ui/kit/ui_settings.h"
#include "ui/shell/session.h"

class QButtonGroup;
class QLabel;
class QStackedWidget;

namespace shardscope::ui {

class BoardsPage;
class CommandPalette;
class ComparePage;
class HelpOverlay;
class ResultsPage;
class SettingsPage;
class StartPage;

/// The window: a rail of pages, menus made from the command list, a status line.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    enum class Page { Start, Boards, Results, Compare, Settings };

    MainWindow(Session* session, UiSettings* settings, QWidget* parent = nullptr);
    ~MainWindow() override;

    void showPage(Page page);
    Page page() const;
    const ActionTable& actions() const { return m_actions; }
    ResultsPage* resultsPage() const { return m_results; }
    ComparePage* comparePage() const { return m_compare; }
    CommandPalette* commandPalette() const { return m_palette; }
    HelpOverlay* helpOverlay() const { return m_help; }
    /// Takes theme and text size from the settings.
    void applyAppearance();
    void restoreWindow();

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* makeRail();
    void fitRail();
    void makePages();
    void makeStatusBar();
    void connectCommands();
    void connectBoards();
    void connectRunCommands();
    void connectViewCommands();
    void connectSession();
    void connectResults();
    void showError(const QString& line);
    void showBoards();
    void showRunnable();
    void showRunTarget();
    void showErrors();
    void askToStop();
    void openModelDialog();
    void openRecordingDialog();
    void openAudioDialog();
    void setTheme(ThemeChoice choice);

    void runFromDock();
    void showUndo();
    void showNotes();
    void exportCharts();

    Session* m_session;
    UiSettings* m_settings;
    ActionTable m_actions;
    QStackedWidget* m_pages;
    QButtonGroup* m_rail;
    StartPage* m_start = nullptr;
    BoardsPage* m_boards = nullptr;
    ResultsPage* m_results = nullptr;
    ComparePage* m_compare = nullptr;
    SettingsPage* m_settingsPage = nullptr;
    CommandPalette* m_palette = nullptr;
    HelpOverlay* m_help = nullptr;
    QWidget* m_drop = nullptr;
    QLabel* m_status = nullptr;
    bool m_compareWhenBack = false; ///< the run was ordered in What-if
};

} // namespace shardscope::ui
