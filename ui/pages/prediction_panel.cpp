// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/prediction_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/kit/parts.h"
#include "ui/kit/table_tools.h"

namespace shardscope::ui {
namespace {

constexpr int kRowHeight = 24;

} // namespace

PredictionPanel::PredictionPanel(QWidget* parent)
    : QWidget(parent), m_model(new PredictionModel(this)), m_sentence(label({})),
      m_table(new QTableView) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_sentence->setObjectName(QStringLiteral("results.bound"));
    m_sentence->setWordWrap(true);
    m_sentence->setContentsMargins(14, 8, 14, 6);
    column->addWidget(m_sentence);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("results.prediction"));
    m_table->setAccessibleName(tr("Predicted against measured"));
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(
        PredictionModel::Phase, QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setHighlightSections(false);
    addCopyAction(m_table);
    addColumnChooser(m_table);
    column->addWidget(m_table, 1);
    showNothing({});
}

void PredictionPanel::showFacts(const PredictionFacts& facts, const QString& sentence) {
    m_model->setFacts(facts);
    m_sentence->setText(sentence);
    m_sentence->setVisible(!sentence.isEmpty());
    m_table->show();
}

void PredictionPanel::showNothing(const QString& why) {
    m_sentence->setText(
        why.isEmpty() ? tr("When a run is over, it is held against its prediction here.") : why);
    m_sentence->show();
    m_table->hide();
}

} // namespace shardscope::ui
