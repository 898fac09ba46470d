// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare_page.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/kit/parts.h"
#include "ui/plot/lanes_view.h"
#include "ui/plot/ram_timeline_view.h"
#include "ui/plot/token_latency_view.h"

namespace shardscope::ui {
namespace {

constexpr int kRowHeight = 28;
constexpr int kWidth = 1080;

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
    QVBoxLayout* column = centreOn(this, kWidth, 22);
    column->setSpacing(16);
    column->addWidget(label(tr("Compare"), "title"));
    column->addWidget(makeChoices());
    auto* both = new QWidget;
    auto* inside = new QVBoxLayout(both);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(16);
    inside->addWidget(makeCurves());
    inside->addWidget(makeTable());
    inside->addWidget(makeTexts());
    inside->addStretch();
    m_stack->addWidget(both);
    auto* none = new QWidget;
    auto* outer = new QVBoxLayout(none);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(emptyCard(
        QStringLiteral("compare"), tr("Two runs are needed"),
        tr("Run the sample, change a setting in What-if, and run it again.")));
    outer->addStretch();
    m_stack->addWidget(none);
    column->addWidget(m_stack, 1);
    m_curves.setGhostName(tr("second"));
    connect(m_runs, &QAbstractItemModel::modelReset, this, &ComparePage::fillChoices);
    fillChoices();
}

QWidget* ComparePage::makeChoices() {
    m_choices = new QWidget;
    auto* choices = new QHBoxLayout(m_choices);
    choices->setContentsMargins(0, 0, 0, 0);
    choices->setSpacing(10);
    m_first->setObjectName(QStringLiteral("compare.first"));
    m_first->setAccessibleName(tr("First run"));
    m_second->setObjectName(QStringLiteral("compare.second"));
    m_second->setAccessibleName(tr("Second run"));
    choices->addWidget(label(tr("First"), "muted"));
    choices->addWidget(m_first, 1);
    choices->addSpacing(14);
    choices->addWidget(label(tr("Second"), "muted"));
    choices->addWidget(m_second, 1);
    for (QComboBox* combo : {m_first, m_second}) {
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        connect(combo, &QComboBox::activated, this, &ComparePage::showRuns);
    }
    return m_choices;
}

/// The first run as areas and bars, the second as a dashed line and thin marks over it.
QWidget* ComparePage::makeCurves() {
    m_curveCard = frame("card");
    m_curveCard->setObjectName(QStringLiteral("compare.curves"));
    auto* column = new QVBoxLayout(m_curveCard);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(0);
    m_views = {
        new RamTimelineView(&m_curves), new LanesView(&m_curves), new TokenLatencyView(&m_curves)};
    for (TimePlot* view : m_views) {
        view->setTimeAxisVisible(view == m_views.back());
        view->setFixedHeight(view == m_views.front() ? 190 : 150);
        view->setObjectName(
            view->objectName().replace(QStringLiteral("plot."), QStringLiteral("compare.")));
        column->addWidget(view);
        connect(view, &TimePlot::statusChanged, this, &ComparePage::statusChanged);
    }
    m_curveCard->hide();
    return m_curveCard;
}

QWidget* ComparePage::makeTable() {
    auto* card = frame("card");
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(8, 6, 8, 8);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("compare.table"));
    m_table->setAccessibleName(tr("Figures of both runs"));
    m_table->setShowGrid(false);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setFocusPolicy(Qt::NoFocus);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setHighlightSections(false);
    inside->addWidget(m_table);
    return card;
}

QWidget* ComparePage::makeTexts() {
    auto* box = new QWidget;
    auto* texts = new QHBoxLayout(box);
    texts->setContentsMargins(0, 0, 0, 0);
    texts->setSpacing(16);
    texts->addWidget(textCard(tr("Text of the first"), m_firstText), 1);
    texts->addWidget(textCard(tr("Text of the second"), m_secondText), 1);
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
    askForCurves();
    if (!possible)
        return;
    m_model->setRuns(first, second);
    // As tall as its rows: the texts follow at once.
    m_table->setFixedHeight(
        m_table->horizontalHeader()->sizeHint().height() + kRowHeight * m_model->rowCount() + 2);
    m_firstText->setText(first->text.isEmpty() ? tr("No text") : first->text.trimmed());
    m_secondText->setText(second->text.isEmpty() ? tr("No text") : second->text.trimmed());
}

/// Recordings are read when somebody looks: a list that changes is no reason to.
void ComparePage::askForCurves() {
    const QString first = m_first->currentData().toString();
    const QString second = m_second->currentData().toString();
    const QString both = first + second;
    if (!isVisible() || m_stack->currentIndex() != 0 || both == m_curvesOf)
        return;
    m_curvesOf = both;
    emit curvesWanted(first, second);
}

void ComparePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    askForCurves();
}

void ComparePage::showCurves(
    const QString& first, const QString& second, std::shared_ptr<const trace::Trace> a,
    std::shared_ptr<const trace::Trace> b) {
    if (first + second != m_curvesOf)
        return; // of a choice that was changed since
    m_curveCard->setVisible(a && b);
    m_curves.setMeasured(a.get());
    m_firstTrace = std::move(a);
    m_curves.setPredicted(std::move(b));
}

void ComparePage::setTheme(const Theme& theme) {
    for (TimePlot* view : m_views)
        view->setTheme(theme);
}

} // namespace shardscope::ui
