// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/table_tools.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QMenu>
#include <QTableView>
#include <set>

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostCopied = 10000;

void copyRows(const QTableView* table) {
    std::set<int> rows;
    for (const QModelIndex& index : table->selectionModel()->selectedIndexes()) {
        rows.insert(index.row());
        if (rows.size() > kMostCopied)
            break;
    }
    QString text;
    for (const int row : rows) {
        QStringList cells;
        for (int column = 0; column < table->model()->columnCount(); ++column)
            if (!table->isColumnHidden(column))
                cells << table->model()->index(row, column).data().toString();
        text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    QApplication::clipboard()->setText(text);
}

void popUpColumns(QTableView* table, const QPoint& where) {
    QHeaderView* header = table->horizontalHeader();
    auto* menu = new QMenu(table);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setObjectName(QStringLiteral("table.columns"));
    for (int column = 0; column < table->model()->columnCount(); ++column) {
        QAction* action =
            menu->addAction(table->model()->headerData(column, Qt::Horizontal).toString());
        const bool shown = !header->isSectionHidden(column);
        action->setCheckable(true);
        action->setChecked(shown);
        action->setEnabled(!shown || header->count() - header->hiddenSectionCount() > 1);
        QObject::connect(action, &QAction::toggled, header, [header, column](bool on) {
            header->setSectionHidden(column, !on);
        });
    }
    menu->popup(header->mapToGlobal(where));
}

} // namespace

void addCopyAction(QTableView* table) {
    auto* copy = new QAction(QApplication::translate("table", "Copy rows"), table);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(copy, &QAction::triggered, table, [table] { copyRows(table); });
    table->addAction(copy);
    table->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void addColumnChooser(QTableView* table) {
    QHeaderView* header = table->horizontalHeader();
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    QObject::connect(header, &QHeaderView::customContextMenuRequested, table, [table](QPoint at) {
        popUpColumns(table, at);
    });
}

} // namespace shardscope::ui
