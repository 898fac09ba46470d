// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare_page.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

constexpr int kRowHeight = 28;

QString choiceText(const app::RunRecord& run) {
    return QStringLiteral("%1 \u00b7 %2 \u00b7 %3")
        .arg(
            shortModelName(run.model), runDate(run.started),
            run.msPerToken > 0 ? ComparePage::tr("%1/token").arg(msText(run.msPerToken))
                               : runFacts(run));
}

QWidget* textCard(const QString& title, QLabel* words) {
    auto* card = frame("card");
    card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(18, 12, 18, 14);
    column->addWidget(label(title, "section"));
    words->setWordWrap(true);
    words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    words->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    column->addWidget(words, 1);
    return card;
}

} // namespace

ComparePage::ComparePage(RunsModel* runs, QWidget* parent)
    : QWidget(parent), m_runs(runs), m_model(new CompareModel(this)), m_first(new QComboBox),
      m_second(new QComboBox), m_stack(new QStackedWidget), m_table(new QTableView),
      m_firstText(label({})), m_secondText(label({})) {
    auto* body = new QWidget;
    body->setMaximumWidth(1080);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(32, 22, 32, 24);
    column->setSpacing(16);
    column->addWidget(label(tr("Compare"), "title"));
    m_choices = new QWidget;
    auto* choices = new QHBoxLayout(m_choices);
    choices->setContentsMargins(0, 0, 0, 0);
    choices->setSpacing(10);
    m_first->setObjectName(QStringLiteral("compare.first"));
    m_second->setObjectName(QStringLiteral("compare.second"));
    choices->addWidget(label(tr("First"), "muted"));
    choices->addWidget(m_first, 1);
    choices->addSpacing(14);
    choices->addWidget(label(tr("Second"), "muted"));
    choices->addWidget(m_second, 1);
    column->addWidget(m_choices);
    m_stack->addWidget(makeTable());
    m_stack->addWidget(makeEmpty());
    column->addWidget(m_stack, 1);

    auto* middle = new QWidget;
    auto* row = new QHBoxLayout(middle);
    row->setContentsMargins(0, 0, 0, 0);
    row->addStretch(1);
    row->addWidget(body, 1000);
    row->addStretch(1);
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setWidget(middle);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(area);
    for (QComboBox* combo : {m_first, m_second}) {
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        connect(combo, &QComboBox::activated, this, &ComparePage::showRuns);
    }
    connect(m_runs, &QAbstractItemModel::modelReset, this, &ComparePage::fillChoices);
    fillChoices();
}

QWidget* ComparePage::makeTable() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(16);
    auto* card = frame("card");
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(8, 6, 8, 8);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("compare.table"));
    m_table->setShowGrid(false);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setFocusPolicy(Qt::NoFocus);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setHighlightSections(false);
    inside->addWidget(m_table);
    column->addWidget(card);
    auto* texts = new QHBoxLayout;
    texts->setSpacing(16);
    texts->addWidget(textCard(tr("Text of the first"), m_firstText), 1);
    texts->addWidget(textCard(tr("Text of the second"), m_secondText), 1);
    column->addLayout(texts);
    column->addStretch();
    return box;
}

QWidget* ComparePage::makeEmpty() {
    auto* box = new QWidget;
    auto* outer = new QVBoxLayout(box);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = frame("card");
    outer->addWidget(card);
    outer->addStretch();
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(24, 44, 24, 44);
    column->setSpacing(6);
    column->addWidget(
        new IconLabel(QStringLiteral("compare"), IconTone::Muted, 40), 0, Qt::AlignHCenter);
    column->addWidget(label(tr("Two runs are needed"), "heading"), 0, Qt::AlignHCenter);
    column->addWidget(
        label(tr("Run the sample, change a setting in What-if, and run it again."), "muted"), 0,
        Qt::AlignHCenter);
    return box;
}

void ComparePage::fillChoices() {
    const QString first = m_first->currentData().toString();
    const QString second = m_second->currentData().toString();
    {
        const QSignalBlocker quietFirst(m_first), quietSecond(m_second);
        m_first->clear();
        m_second->clear();
        for (const app::RunRecord& run : m_runs->runs())
            for (QComboBox* combo : {m_first, m_second})
                combo->addItem(choiceText(run), run.uuid);
        // By default what is new against what was before.
        m_first->setCurrentIndex(
            std::max(m_first->findData(first), std::min(1, m_first->count() - 1)));
        m_second->setCurrentIndex(std::max(m_second->findData(second), 0));
        if (m_first->findData(first) >= 0)
            m_first->setCurrentIndex(m_first->findData(first));
    }
    showRuns();
}

void ComparePage::compare(const QString& first, const QString& second) {
    m_first->setCurrentIndex(m_first->findData(first));
    m_second->setCurrentIndex(m_second->findData(second));
    showRuns();
}

void ComparePage::showRuns() {
    const app::RunRecord* first = m_runs->find(m_first->currentData().toString());
    const app::RunRecord* second = m_runs->find(m_second->currentData().toString());
    const bool possible = first && second && m_runs->rowCount() > 1;
    m_stack->setCurrentIndex(possible ? 0 : 1);
    m_choices->setVisible(possible);
    if (!possible)
        return;
    m_model->setRuns(first, second);
    // As tall as its rows: the texts follow at once.
    m_table->setFixedHeight(
        m_table->horizontalHeader()->sizeHint().height() + kRowHeight * m_model->rowCount() + 2);
    m_firstText->setText(first->text.isEmpty() ? tr("No text") : first->text.trimmed());
    m_secondText->setText(second->text.isEmpty() ? tr("No text") : second->text.trimmed());
}

} // namespace shardscope::ui
