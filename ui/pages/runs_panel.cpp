// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs_panel.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMouseEvent>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/pages/runs_delegate.h"

namespace shardscope::ui {

RunsPanel::RunsPanel(RunsModel* runs, QWidget* parent)
    : QWidget(parent), m_runs(runs), m_filter(new RunsFilter(this)), m_search(new QLineEdit),
      m_list(new QListView), m_empty(label(tr("No runs"), "muted")), m_undo(frame("note")),
      m_undoText(label({})), m_compare(button(tr("Compare"))), m_delete(button(tr("Delete"))) {
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    m_filter->setSourceModel(m_runs);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);

    column->addLayout(makeTools());
    makeList();
    column->addWidget(m_list, 1);
    column->addWidget(m_empty);
    column->addWidget(line());
    column->addLayout(makeFoot());
    connectList();
    showButtons();
}

QLayout* RunsPanel::makeTools() {
    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(10, 10, 8, 8);
    tools->setSpacing(4);
    m_search->setPlaceholderText(tr("Filter runs"));
    m_search->setClearButtonEnabled(true);
    m_search->setObjectName(QStringLiteral("runs.search"));
    auto* starred = new QToolButton;
    starred->setIcon(icon(QStringLiteral("star"), IconTone::Muted));
    starred->setCheckable(true);
    starred->setToolTip(tr("Starred runs only"));
    tools->addWidget(m_search, 1);
    tools->addWidget(starred);
    connect(m_search, &QLineEdit::textChanged, m_filter, &RunsFilter::setText);
    connect(starred, &QToolButton::toggled, m_filter, &RunsFilter::setStarredOnly);
    return tools;
}

void RunsPanel::makeList() {
    m_list->setModel(m_filter);
    m_list->setItemDelegate(new RunsDelegate(m_list));
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setObjectName(QStringLiteral("runs.list"));
    m_list->viewport()->installEventFilter(this);
    m_list->setAccessibleName(tr("Runs"));
    addListActions();
    m_empty->setAlignment(Qt::AlignHCenter);
    m_empty->setContentsMargins(12, 24, 12, 24);
    m_empty->setWordWrap(true);
}

/// What can be done with a run by keys while the list has the focus; the menu of a right click
/// offers the same.
void RunsPanel::addListActions() {
    const auto add = [this](const QString& text, const QKeySequence& key, auto&& act) {
        auto* action = new QAction(text, m_list);
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetShortcut);
        connect(action, &QAction::triggered, this, act);
        m_list->addAction(action);
    };
    add(tr("Open"), {}, [this] { emit opened(selected()); });
    add(tr("Star"), QKeySequence(QStringLiteral("*")), [this] { starSelected(); });
    add(tr("Tags..."), QKeySequence(QStringLiteral("T")), [this] { editTags(); });
    add(tr("Compare with the open run"), {}, [this] { emit compareClicked(selected()); });
    add(tr("Delete"), QKeySequence(Qt::Key_Delete), [this] { emit deleteClicked(selected()); });
    m_list->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void RunsPanel::starSelected() {
    if (const app::RunRecord* run = m_runs->find(selected()))
        emit starClicked(run->uuid, !run->starred);
}

QWidget* RunsPanel::makeTagLine() {
    m_tagLine = new QWidget;
    auto* column = new QVBoxLayout(m_tagLine);
    column->setContentsMargins(0, 0, 0, 2);
    column->setSpacing(4);
    column->addWidget(label(tr("Tags, with commas between"), "small"));
    m_tags = new QLineEdit;
    m_tags->setObjectName(QStringLiteral("runs.tags"));
    m_tags->setAccessibleName(tr("Tags of the run"));
    m_tags->installEventFilter(this);
    column->addWidget(m_tags);
    m_tagLine->hide();
    connect(m_tags, &QLineEdit::returnPressed, this, [this] {
        m_tagLine->hide();
        m_list->setFocus();
        emit tagsEdited(m_tagged, m_tags->text().split(QLatin1Char(','), Qt::SkipEmptyParts));
    });
    return m_tagLine;
}

void RunsPanel::editTags() {
    const app::RunRecord* run = m_runs->find(selected());
    if (!run)
        return;
    m_tagged = run->uuid;
    m_tags->setText(run->tags.join(QStringLiteral(", ")));
    m_tagLine->show();
    m_tags->setFocus();
    m_tags->selectAll();
}

QLayout* RunsPanel::makeFoot() {
    auto* undoRow = new QHBoxLayout(m_undo);
    undoRow->setContentsMargins(10, 4, 6, 4);
    m_undoText->setWordWrap(true);
    undoRow->addWidget(m_undoText, 1);
    auto* undo = button(tr("Undo"), "flat");
    undo->setObjectName(QStringLiteral("runs.undo"));
    undoRow->addWidget(undo);
    m_undo->hide();
    auto* foot = new QVBoxLayout;
    foot->setContentsMargins(10, 8, 10, 10);
    foot->addWidget(makeTagLine());
    foot->addWidget(m_undo);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_compare, 1);
    buttons->addWidget(m_delete, 1);
    m_compare->setToolTip(tr("Compare the open run with the selected one"));
    foot->addLayout(buttons);
    connect(undo, &QPushButton::clicked, this, &RunsPanel::undoClicked);
    return foot;
}

void RunsPanel::connectList() {
    connect(m_list, &QListView::activated, this, [this] { emit opened(selected()); });
    connect(m_compare, &QPushButton::clicked, this, [this] { emit compareClicked(selected()); });
    connect(m_delete, &QPushButton::clicked, this, [this] { emit deleteClicked(selected()); });
    connect(
        m_list->selectionModel(), &QItemSelectionModel::selectionChanged, this,
        &RunsPanel::showButtons);
    connect(m_filter, &QAbstractItemModel::modelReset, this, [this] {
        select(m_open);
        showButtons();
    });
    connect(m_filter, &QAbstractItemModel::rowsInserted, this, &RunsPanel::showButtons);
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, &RunsPanel::showButtons);
}

QString RunsPanel::selected() const {
    return m_list->currentIndex().data(RunsModel::UuidRole).toString();
}

void RunsPanel::select(const QString& uuid) {
    m_open = uuid;
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const QModelIndex index = m_filter->index(row, 0);
        if (index.data(RunsModel::UuidRole).toString() == uuid)
            return m_list->setCurrentIndex(index);
    }
    m_list->clearSelection();
}

void RunsPanel::showButtons() {
    const bool any = !selected().isEmpty() && m_list->selectionModel()->hasSelection();
    m_compare->setEnabled(any);
    m_delete->setEnabled(any);
    m_empty->setText(
        m_runs->rowCount() ? tr("No run matches the filter.") : tr("Runs are kept here."));
    m_empty->setVisible(m_filter->rowCount() == 0);
}

void RunsPanel::showUndo(const QString& text) {
    m_undoText->setText(text);
    m_undo->show();
}

void RunsPanel::hideUndo() {
    m_undo->hide();
}

bool RunsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_tags) {
        if (event->type() == QEvent::KeyPress &&
            static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
            m_tagLine->hide();
            m_list->setFocus();
            return true;
        }
        return false;
    }
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const QModelIndex index = m_list->indexAt(mouse->pos());
        if (index.isValid() && mouse->button() == Qt::LeftButton) {
            const QString uuid = index.data(RunsModel::UuidRole).toString();
            if (RunsDelegate::starRect(m_list->visualRect(index)).contains(mouse->pos()))
                emit starClicked(uuid, !index.data(RunsModel::StarredRole).toBool());
            else
                emit opened(uuid);
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace shardscope::ui
