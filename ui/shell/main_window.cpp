// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include <QAction>
#include <QApplication>
#include <QButtonGroup>
#include <QCloseEvent>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QMimeData>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/remote/board_source.h"
#include "app/remote/emulate/emulated_board.h"
#include "sim_engine/model/card_catalog.h"
#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/pages/boards_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/facts_bar.h"
#include "ui/pages/results_page.h"
#include "ui/pages/runs_panel.h"
#include "ui/pages/settings_page.h"
#include "ui/pages/start_page.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/help_overlay.h"

namespace shardscope::ui {
namespace {

struct RailEntry {
    const char* command;
    const char* icon;
};
// In the order of MainWindow::Page.
constexpr RailEntry kRail[] = {
    {"go.start", "start"},     {"go.boards", "boards"},     {"go.results", "results"},
    {"go.compare", "compare"}, {"go.settings", "settings"},
};

const QString kWindowLayout = QStringLiteral("window");
const QString kResultsLayout = QStringLiteral("results");

} // namespace

MainWindow::MainWindow(Session* session, UiSettings* settings, QWidget* parent)
    : QMainWindow(parent), m_session(session), m_settings(settings), m_actions(this),
      m_pages(new QStackedWidget), m_rail(new QButtonGroup(this)) {
    setWindowTitle(tr("Shardscope"));
    setWindowIcon(QIcon(QStringLiteral(":/shardscope/icons/shardscope.svg")));
    setAcceptDrops(true);
    setMinimumSize(1024, 680);
    resize(1440, 900);
    m_actions.fill(menuBar());
    menuBar()->setNativeMenuBar(false);
    makePages();
    auto* body = new QWidget;
    auto* row = new QHBoxLayout(body);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(makeRail());
    row->addWidget(m_pages, 1);
    setCentralWidget(body);
    makeStatusBar();
    m_palette = new CommandPalette(m_actions, this);
    m_help = new HelpOverlay(m_actions, this);
    connectCommands();
    connectRunCommands();
    connectViewCommands();
    connectSession();
    connectResults();
    showBoards();
    showRunnable();
    fitRail();
    showPage(Page::Start);
    if (!m_session->storeError().isEmpty())
        m_start->banner()->showError(m_session->storeError());
}

MainWindow::~MainWindow() = default;

QWidget* MainWindow::makeRail() {
    auto* rail = frame("rail");
    rail->setObjectName(QStringLiteral("rail"));
    auto* column = new QVBoxLayout(rail);
    column->setContentsMargins(8, 10, 8, 10);
    column->setSpacing(4);
    for (int i = 0; i < 5; ++i) {
        QAction* action = m_actions.action(kRail[i].command);
        auto* entry = new QToolButton;
        entry->setObjectName(QStringLiteral("rail.") + action->objectName());
        entry->setText(action->text());
        entry->setIcon(icon(QLatin1String(kRail[i].icon), IconTone::Muted));
        entry->setIconSize({22, 22});
        entry->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
        entry->setCheckable(true);
        entry->setProperty("look", "rail");
        entry->setFocusPolicy(Qt::TabFocus);
        entry->setToolTip(
            QStringLiteral("%1 (%2)").arg(action->toolTip(), action->shortcut().toString()));
        m_rail->addButton(entry, i);
        if (i == 4)
            column->addStretch();
        column->addWidget(entry);
        const auto page = static_cast<Page>(i);
        connect(action, &QAction::triggered, this, [this, page] { showPage(page); });
        connect(entry, &QToolButton::clicked, action, &QAction::trigger);
    }
    return rail;
}

/// As wide as its words are at this text size.
void MainWindow::fitRail() {
    QFont font = QApplication::font();
    font.setPointSize(font.pointSize() - 1);
    font.setWeight(QFont::DemiBold); // as the chosen page is written
    const QFontMetrics metrics(font);
    int widest = 0;
    for (QAbstractButton* entry : m_rail->buttons())
        widest = std::max(widest, metrics.horizontalAdvance(entry->text()));
    const int width = std::max(68, widest + 16);
    for (QAbstractButton* entry : m_rail->buttons())
        entry->setFixedSize(width, metrics.height() + 40);
    findChild<QFrame*>(QStringLiteral("rail"))->setFixedWidth(width + 16);
}

void MainWindow::makePages() {
    m_start = new StartPage(m_actions, m_session->runs());
    m_boards = new BoardsPage;
    m_results = new ResultsPage(
        {m_session->document(), m_session->whatIf(), m_session->policies(), m_session->tune(),
         m_session->playback(), m_session->runs(), &m_actions});
    m_compare = new ComparePage(m_session->runs());
    m_settingsPage = new SettingsPage(m_settings, m_session->paths().root);
    const std::initializer_list<QWidget*> pages = {
        m_start, m_boards, m_results, m_compare, m_settingsPage};
    for (QWidget* page : pages) {
        page->setFocusPolicy(Qt::ClickFocus);
        m_pages->addWidget(page);
    }
}

void MainWindow::makeStatusBar() {
    m_status = new QLabel;
    m_status->setObjectName(QStringLiteral("status"));
    statusBar()->addWidget(m_status, 1);
    statusBar()->addPermanentWidget(new QLabel(tr("Ctrl+Shift+P all commands  \u00b7  ? keys")));
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::showPage(Page page) {
    const int index = static_cast<int>(page);
    m_pages->setCurrentIndex(index);
    m_rail->button(index)->setChecked(true);
    m_pages->currentWidget()->setFocus();
    m_status->clear();
}

MainWindow::Page MainWindow::page() const {
    return static_cast<Page>(m_pages->currentIndex());
}

void MainWindow::applyAppearance() {
    applyChrome(*qobject_cast<QApplication*>(qApp), m_settings->theme(), m_settings->fontPoints());
    m_results->applyTheme();
    m_compare->setTheme(Theme::fromPalette(QApplication::palette()));
    m_settingsPage->refresh();
    fitRail();
}

void MainWindow::setTheme(ThemeChoice choice) {
    m_settings->setTheme(choice);
    applyAppearance();
}

void MainWindow::restoreWindow() {
    const QByteArray place = m_settings->layout(kWindowLayout);
    if (!place.isEmpty())
        restoreGeometry(place);
    const QByteArray docks = m_settings->layout(kResultsLayout);
    if (!docks.isEmpty())
        m_results->restoreLayout(docks);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    m_settings->setLayout(kWindowLayout, saveGeometry());
    m_settings->setLayout(kResultsLayout, m_results->layoutState());
    m_session->purge();
    event->accept();
}

void MainWindow::showError(const QString& line) {
    if (page() == Page::Results)
        m_results->banner()->showError(line);
    else
        m_start->banner()->showError(line);
    if (page() != Page::Results && page() != Page::Start)
        showPage(Page::Start);
    m_results->log(line);
}

void MainWindow::showBoards() {
    const auto boards = m_session->boards();
    m_boards->setBoards(boards);
    PlanningChoices choices;
    choices.cards = model::catalogNames();
    for (const BoardEntry& board : boards)
        if (board.measured)
            choices.boards.push_back(board.profile);
    m_results->whatIfPanel()->setChoices(std::move(choices));
    showErrors();
    showRunnable();
}

void MainWindow::showRunnable() {
    auto* document = m_session->document();
    const bool running = m_session->controller()->isRunning();
    QString why;
    const bool can = m_session->canRun(&why) && !running;
    if (running)
        why = tr("A run is going on.");
    WhatIfPanel* panel = m_results->whatIfPanel();
    showNotes();
    panel->setRunName(document->modelName(), document->boardName());
    panel->setRunnable(can, why);
    m_results->facts()->setRunnable(can, why);
    m_results->runsPanel()->select(document->uuid());
    m_actions.action("run.start")->setEnabled(can);
    m_actions.action("run.sample")->setEnabled(!running);
    m_actions.action("run.stop")->setEnabled(running);
}

void MainWindow::showRunTarget() {
    const QString target = m_session->runBoard();
    if (app::isEmulated(target))
        return m_results->whatIfPanel()->setRunTarget(
            tr("Run on emulated board"),
            tr("On this machine, held to the memory, reads and processor of %1.")
                .arg(app::emulatedName(target)));
    const QString planned = QString::fromStdString(m_session->whatIf()->board().name);
    m_results->whatIfPanel()->setRunTarget(
        tr("Run on this machine"),
        planned.isEmpty() || planned == target
            ? QString()
            : tr("%1 is planned for; the run goes to this machine.").arg(planned));
}

void MainWindow::showErrors() {
    m_results->whatIfPanel()->setErrors(m_session->predictionErrors());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!event->mimeData()->hasUrls())
        return;
    event->acceptProposedAction();
    if (!m_drop) {
        m_drop = frame("drop", this);
        auto* column = new QVBoxLayout(m_drop);
        column->addWidget(
            label(tr("Drop a model (.bin), a recording (.sst) or audio"), "title"), 0,
            Qt::AlignCenter);
    }
    m_drop->setGeometry(rect().adjusted(24, 24, -24, -24));
    m_drop->show();
    m_drop->raise();
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) {
    if (m_drop)
        m_drop->hide();
}

void MainWindow::dropEvent(QDropEvent* event) {
    if (m_drop)
        m_drop->hide();
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty())
        m_session->openFile(urls.front().toLocalFile());
}

} // namespace shardscope::ui
