// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/events_panel.h"

#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSaveFile>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/kit/table_tools.h"

namespace shardscope::ui {
namespace {

constexpr int kRowHeight = 24;

} // namespace

EventsPanel::EventsPanel(RunData* data, QWidget* parent)
    : QWidget(parent), m_data(data), m_model(new EventsModel(this)), m_search(new QLineEdit),
      m_kind(new QComboBox), m_count(label({}, "muted")), m_table(new QTableView) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeTools());
    makeTable();
    column->addWidget(m_table, 1);

    m_append.setSingleShot(true);
    m_append.setInterval(200);
    connect(&m_append, &QTimer::timeout, this, [this] {
        m_model->eventsAppended();
        showCount();
    });
    m_typing.setSingleShot(true);
    m_typing.setInterval(120);
    connect(&m_typing, &QTimer::timeout, this, &EventsPanel::applyFilter);
    connect(m_search, &QLineEdit::textChanged, this, [this] { m_typing.start(); });
    connect(m_kind, &QComboBox::currentIndexChanged, this, &EventsPanel::applyFilter);
    connect(m_model, &QAbstractItemModel::modelReset, this, &EventsPanel::showCount);
    connect(m_data->time(), &TimeState::filtersChanged, this, &EventsPanel::applyFilter);
    connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& index) {
        const base::Nanos at = m_model->event(index.row()).start();
        m_data->time()->setCursor(at);
        m_data->time()->reveal(at);
    });
    showCount();
}

QWidget* EventsPanel::makeTools() {
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(12, 6, 12, 6);
    row->setSpacing(8);
    m_search->setPlaceholderText(tr("Find an event, op, shard or buffer"));
    m_search->setClearButtonEnabled(true);
    m_search->addAction(
        icon(QStringLiteral("search"), IconTone::Muted), QLineEdit::LeadingPosition);
    m_search->setMaximumWidth(320);
    m_search->setObjectName(QStringLiteral("events.search"));
    m_kind->addItem(tr("All events"), 0);
    for (int kind = 1; kind <= trace::kLastEventKind; ++kind) {
        const auto name = trace::eventKindName(static_cast<trace::EventKind>(kind));
        m_kind->addItem(QString::fromUtf8(name.data(), qsizetype(name.size())), kind);
    }
    m_kind->setMaxVisibleItems(16);
    row->addWidget(m_search, 1);
    row->addWidget(m_kind);
    row->addStretch(1);
    row->addWidget(m_count);
    return box;
}

void EventsPanel::makeTable() {
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("events.table"));
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSortingEnabled(true);
    m_table->setWordWrap(false);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    auto* header = m_table->horizontalHeader();
    header->setSortIndicator(-1, Qt::AscendingOrder);
    header->setSortIndicatorClearable(true);
    header->setHighlightSections(false);
    header->setStretchLastSection(true);
    const int widths[] = {96, 90, 210, 90, 90};
    for (int i = 0; i < 5; ++i)
        header->resizeSection(i, widths[i]);
    addCopyAction(m_table);
    addColumnChooser(m_table);
    auto* save = new QAction(tr("Save all rows as CSV..."), m_table);
    connect(save, &QAction::triggered, this, &EventsPanel::saveCsv);
    m_table->addAction(save);
}

void EventsPanel::focusSearch() {
    m_search->setFocus();
    m_search->selectAll();
}

void EventsPanel::eventsAppended() {
    if (!m_append.isActive())
        m_append.start();
}

void EventsPanel::applyFilter() {
    EventFilter filter;
    filter.text = m_search->text().trimmed();
    if (const int kind = m_kind->currentData().toInt())
        filter.kind = static_cast<trace::EventKind>(kind);
    if (!m_data->time()->filters().empty()) {
        const TimeRange range = m_data->time()->bounds();
        filter.range = {range.begin, range.end};
    }
    m_model->setFilter(filter);
}

void EventsPanel::showCount() {
    const QLocale locale;
    m_count->setText(tr("%1 events").arg(locale.toString(m_model->rowCount())));
}

void EventsPanel::saveCsv() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save events"), QStringLiteral("events.csv"), tr("CSV (*.csv)"));
    if (path.isEmpty())
        return;
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || !writeEventsCsv(*m_model, file) || !file.commit())
        emit failed(tr("%1: %2; choose another folder").arg(path, file.errorString()));
}

} // namespace shardscope::ui
