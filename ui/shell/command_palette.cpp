// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/command_palette.h"

#include <QAction>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/kit/chrome.h"

namespace shardscope::ui {
namespace {

constexpr int kActionRole = Qt::UserRole + 1;

bool hasWords(const QString& text, const QStringList& words) {
    return std::all_of(words.begin(), words.end(), [&text](const QString& word) {
        return text.contains(word, Qt::CaseInsensitive);
    });
}

QTreeWidgetItem* rowFor(QAction* action, const QString& menu) {
    auto* row = new QTreeWidgetItem(
        {action->text(), action->toolTip(), action->shortcut().toString(QKeySequence::NativeText)});
    row->setData(0, kActionRole, QVariant::fromValue<QObject*>(action));
    row->setData(1, Qt::UserRole, menu);
    row->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
    row->setSizeHint(0, {100, 30});
    return row;
}

} // namespace

CommandPalette::CommandPalette(const ActionTable& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint), m_text(new QLineEdit),
      m_list(new QTreeWidget) {
    setObjectName(QStringLiteral("palette"));
    setProperty("look", "popup");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 10, 10, 10);
    column->setSpacing(8);
    m_text->setPlaceholderText(tr("Type a command"));
    m_text->setObjectName(QStringLiteral("palette.text"));
    column->addWidget(m_text);
    m_list->setColumnCount(3);
    m_list->setHeaderHidden(true);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setObjectName(QStringLiteral("palette.list"));
    const auto table = commands();
    for (qsizetype i = 0; i < actions.all().size(); ++i)
        m_list->addTopLevelItem(
            rowFor(actions.all()[i], tr(table[static_cast<std::size_t>(i)].menu)));
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::Fixed);
    m_list->header()->resizeSection(0, 214);
    m_list->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    m_list->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    column->addWidget(m_list, 1);
    connect(m_text, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QTreeWidget::itemClicked, this, &CommandPalette::runCurrent);
    m_text->installEventFilter(this);
    setTabOrder(m_text, m_list);
}

void CommandPalette::popUp() {
    const QWidget* window = parentWidget();
    resize(680, std::min(470, window->height() - 120));
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 64)));
    m_text->clear();
    filter({});
    show();
    m_text->setFocus();
}

void CommandPalette::filter(const QString& text) {
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QTreeWidgetItem* first = nullptr;
    QTreeWidgetItem* named = nullptr; // a match in the name goes before one in the help
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        QTreeWidgetItem* row = m_list->topLevelItem(i);
        const auto* action = qobject_cast<QAction*>(row->data(0, kActionRole).value<QObject*>());
        const QString all = row->data(1, Qt::UserRole).toString() + QLatin1Char(' ') +
                            row->text(0) + QLatin1Char(' ') + row->text(1);
        const bool fits = hasWords(all, words);
        row->setHidden(!fits);
        row->setDisabled(!action->isEnabled());
        QColor faded = chrome().muted;
        faded.setAlpha(action->isEnabled() ? 255 : 130);
        row->setForeground(0, action->isEnabled() ? chrome().text : faded);
        row->setForeground(1, faded);
        row->setForeground(2, faded);
        if (!fits || !action->isEnabled())
            continue;
        if (!first)
            first = row;
        if (!named && hasWords(row->text(0), words))
            named = row;
    }
    m_list->setCurrentItem(named ? named : first);
}

void CommandPalette::runCurrent() {
    const QTreeWidgetItem* row = m_list->currentItem();
    if (!row || row->isHidden() || row->isDisabled())
        return;
    auto* action = qobject_cast<QAction*>(row->data(0, kActionRole).value<QObject*>());
    close();
    // After this popup is gone: the command may open a dialog.
    QTimer::singleShot(0, action, &QAction::trigger);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        switch (key->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
            runCurrent();
            return true;
        case Qt::Key_Up:
        case Qt::Key_Down: {
            QTreeWidgetItem* row = m_list->currentItem();
            do
                row = row ? (key->key() == Qt::Key_Up ? m_list->itemAbove(row)
                                                      : m_list->itemBelow(row))
                          : m_list->topLevelItem(0);
            while (row && (row->isHidden() || row->isDisabled()));
            if (row)
                m_list->setCurrentItem(row);
            return true;
        }
        default:
            break;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace shardscope::ui
