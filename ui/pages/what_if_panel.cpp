// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/what_if_panel.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/kit/parts.h"
#include "ui/models/runs_model.h"
#include "ui/pages/plan_card.h"
#include "ui/pages/policy_table.h"
#include "ui/pages/trade_off_panel.h"

namespace shardscope::ui {
namespace {

QString boardName(const plan::BoardProfile& board) {
    return QString::fromStdString(board.name);
}

/// The flags that begin a planner's sentence ("--budget 21MiB --slots 1 fits ...") put into a
/// config.
plan::RunConfig withFlags(plan::RunConfig config, const std::string& sentence) {
    const QStringList words = QString::fromStdString(sentence).split(QLatin1Char(' '));
    for (qsizetype i = 0; i + 1 < words.size() && words[i].startsWith(QLatin1String("--")); i += 2)
        if (!plan::setKnob(config, words[i].toStdString(), words[i + 1].toStdString()))
            break;
    return config;
}

} // namespace

WhatIfPanel::WhatIfPanel(const WhatIfParts& parts, QWidget* parent)
    : QWidget(parent), m_whatIf(parts.whatIf) {
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeSource());
    column->addWidget(makeFigures());
    column->addWidget(makeTabs(parts), 1);
    column->addWidget(line());
    column->addWidget(makeFoot());
    connect(m_whatIf, &app::WhatIf::baselineChanged, this, &WhatIfPanel::takeBaseline);
    connect(m_whatIf, &app::WhatIf::configChanged, this, &WhatIfPanel::showConfig);
    connect(m_whatIf, &app::WhatIf::predictionChanged, this, &WhatIfPanel::showPrediction);
    takeBaseline();
    showPrediction();
}

QWidget* WhatIfPanel::makeSource() {
    auto* box = new QWidget;
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(14, 12, 14, 4);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(1, 1);
    m_model = new QComboBox;
    m_board = new QComboBox;
    m_model->setObjectName(QStringLiteral("whatif.model"));
    m_board->setObjectName(QStringLiteral("whatif.board"));
    for (QComboBox* combo : {m_model, m_board}) {
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        combo->setMinimumContentsLength(10);
        connect(combo, &QComboBox::activated, this, &WhatIfPanel::planChosen);
    }
    grid->addWidget(label(tr("Model"), "muted"), 0, 0);
    grid->addWidget(m_model, 0, 1);
    grid->addWidget(label(tr("Board"), "muted"), 1, 0);
    grid->addWidget(m_board, 1, 1);
    return box;
}

QWidget* WhatIfPanel::makeFigures() {
    auto* box = new QWidget;
    auto* margins = new QVBoxLayout(box);
    margins->setContentsMargins(14, 8, 14, 8);
    margins->setSpacing(6);
    m_figureStack = new QStackedWidget;
    margins->addWidget(m_figureStack);
    m_errorHint = label({}, "small");
    m_errorHint->setObjectName(QStringLiteral("whatif.errorHint"));
    m_errorHint->setWordWrap(true);
    m_errorHint->setTextInteractionFlags(Qt::TextSelectableByMouse);
    margins->addWidget(m_errorHint);

    auto* tiles = new QWidget;
    auto* grid = new QGridLayout(tiles);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(6);
    const auto figures = whatIfFigures({}, 0);
    for (std::size_t i = 0; i < figures.size(); ++i) {
        auto* tile = new FigureTile;
        tile->showNothing(figures[i]);
        grid->addWidget(tile, static_cast<int>(i / 2), static_cast<int>(i % 2));
        m_tiles.push_back(tile);
    }
    m_figureStack->addWidget(tiles);

    auto* stop = frame("warning");
    stop->setObjectName(QStringLiteral("whatif.infeasible"));
    auto* column = new QVBoxLayout(stop);
    column->setContentsMargins(14, 12, 14, 12);
    auto* title = label(tr("Does not fit"), "heading");
    m_needed = label({});
    m_needed->setWordWrap(true);
    m_fits = label({});
    m_fits->setWordWrap(true);
    m_useNearest = button(tr("Use what fits"));
    m_useNearest->setObjectName(QStringLiteral("whatif.useNearest"));
    column->addWidget(title);
    column->addWidget(m_needed);
    column->addWidget(m_fits);
    column->addStretch();
    column->addWidget(m_useNearest, 0, Qt::AlignLeft);
    connect(m_useNearest, &QPushButton::clicked, this, &WhatIfPanel::useNearest);
    m_figureStack->addWidget(stop);
    return box;
}

QWidget* WhatIfPanel::makeTabs(const WhatIfParts& parts) {
    m_knobs = new KnobList(m_whatIf);
    m_tradeOff = new TradeOffPanel(parts.tune, m_whatIf);
    m_planCard = new PlanCard(m_whatIf);
    m_policies = new PolicyTable(parts.policies, m_whatIf);
    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("whatif.tabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setProperty("look", "narrow");
    // In the order of Tab.
    m_tabs->addTab(m_knobs, tr("Settings"));
    m_tabs->addTab(m_tradeOff, tr("Trade-off"));
    m_tabs->addTab(m_planCard, tr("Plan"));
    m_tabs->addTab(m_policies, tr("Policies"));
    return m_tabs;
}

void WhatIfPanel::showTab(Tab tab) {
    m_tabs->setCurrentIndex(static_cast<int>(tab));
}

void WhatIfPanel::setTheme(const Theme& theme) {
    m_tradeOff->setTheme(theme);
}

QWidget* WhatIfPanel::makeFoot() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(14, 10, 14, 12);
    column->setSpacing(6);
    m_hint = label({}, "small");
    m_hint->setWordWrap(true);
    auto* row = new QHBoxLayout;
    m_run = button(tr("Run on this machine"), "primary");
    m_run->setObjectName(QStringLiteral("whatif.run"));
    m_reset = button(tr("Reset"));
    m_reset->setObjectName(QStringLiteral("whatif.reset"));
    row->addWidget(m_run, 1);
    row->addWidget(m_reset);
    column->addLayout(row);
    column->addWidget(m_hint);
    connect(m_run, &QPushButton::clicked, this, &WhatIfPanel::runRequested);
    connect(m_reset, &QPushButton::clicked, m_whatIf, &app::WhatIf::reset);
    return box;
}

void WhatIfPanel::setChoices(PlanningChoices choices) {
    m_choices = std::move(choices);
    setRunName({}, {});
}

void WhatIfPanel::setRunName(const QString& model, const QString& board) {
    const QSignalBlocker quietModel(m_model), quietBoard(m_board);
    m_hasRun = !model.isEmpty();
    m_model->clear();
    m_board->clear();
    if (m_hasRun) {
        m_model->addItem(model, QString());
        m_board->addItem(board, -1);
    }
    for (const std::string& card : m_choices.cards) {
        const QString name = QString::fromStdString(card);
        m_model->addItem(QString(name).remove(QStringLiteral("card:")), name);
    }
    for (std::size_t i = 0; i < m_choices.boards.size(); ++i)
        if (!m_hasRun || boardName(m_choices.boards[i]) != board)
            m_board->addItem(boardName(m_choices.boards[i]), static_cast<int>(i));
    showSource();
}

bool WhatIfPanel::isPlanning() const {
    return !m_hasRun || m_model->currentIndex() > 0;
}

void WhatIfPanel::useNearest() {
    if (const auto& why = m_whatIf->infeasible())
        m_whatIf->setConfig(withFlags(m_whatIf->config(), why->nearest));
}

void WhatIfPanel::planChosen() {
    const int chosen = m_board->currentData().toInt();
    if (!isPlanning()) {
        emit runModelChosen();
        if (chosen >= 0)
            m_whatIf->setBoard(m_choices.boards[static_cast<std::size_t>(chosen)]);
        return;
    }
    const plan::BoardProfile board =
        chosen >= 0 ? m_choices.boards[static_cast<std::size_t>(chosen)] : m_whatIf->board();
    emit planWanted(m_model->currentData().toString(), board);
}

/// The choices name what is planned: the run's model and board, or others.
void WhatIfPanel::showSource() {
    if (!m_whatIf->isReady())
        return;
    const QSignalBlocker quietModel(m_model), quietBoard(m_board);
    const QString card = QString::fromStdString(m_whatIf->card()->name);
    if (!m_hasRun) {
        if (m_model->findData(card) < 0)
            m_model->insertItem(0, shortModelName(card), card);
        m_model->setCurrentIndex(m_model->findData(card));
    }
    m_board->setCurrentIndex(m_board->findText(boardName(m_whatIf->board())));
}

void WhatIfPanel::takeBaseline() {
    setEnabled(m_whatIf->isReady());
    showSource();
    showErrors();
    if (!m_whatIf->isReady())
        return;
    m_knobs->fitToModel();
    showConfig();
}

void WhatIfPanel::showConfig() {
    m_knobs->showConfig();
    m_reset->setEnabled(m_whatIf->isChanged());
}

void WhatIfPanel::showPrediction() {
    const app::Prediction& now = m_whatIf->prediction();
    const app::Prediction& before = m_whatIf->baselinePrediction();
    const bool stopped = now.infeasible || now.error;
    m_figureStack->setCurrentIndex(stopped ? 1 : 0);
    if (now.infeasible) {
        m_needed->setText(tr("These settings need %1, the budget allows %2.")
                              .arg(bytesText(now.infeasible->needed.real()))
                              .arg(bytesText(now.infeasible->allowed.real())));
        m_fits->setText(flagsText(now.infeasible->nearest));
    } else if (now.error) {
        m_needed->setText(QString::fromStdString(now.error->what));
        m_fits->setText(QString::fromStdString(now.error->mend));
    }
    m_fits->setVisible(!m_fits->text().isEmpty());
    m_useNearest->setVisible(now.infeasible && !now.infeasible->nearest.empty());
    m_run->setEnabled(m_runnable && now.plan && !stopped);
    if (!now.plan)
        return;
    const auto figures = whatIfFigures(now.summary, now.plan->streamedPerToken.value);
    const bool compare = before.plan != nullptr && m_whatIf->isChanged();
    const auto baseline =
        whatIfFigures(before.summary, compare ? before.plan->streamedPerToken.value : 0);
    for (std::size_t i = 0; i < m_tiles.size(); ++i)
        m_tiles[i]->showFigure(figures[i], compare ? &baseline[i] : nullptr);
}

void WhatIfPanel::setRunnable(bool runnable, const QString& why) {
    m_runnable = runnable;
    m_why = why;
    m_run->setEnabled(runnable && m_whatIf->predictedPlan());
    showHint();
}

void WhatIfPanel::setRunTarget(const QString& text, const QString& hint) {
    m_run->setText(text);
    m_targetHint = hint;
    showHint();
}

void WhatIfPanel::showHint() {
    m_hint->setText(m_why.isEmpty() ? m_targetHint : m_why);
    m_hint->setVisible(!m_hint->text().isEmpty());
}

void WhatIfPanel::setErrors(const PredictionErrors& errors) {
    m_errors = errors;
    showErrors();
}

void WhatIfPanel::showErrors() {
    for (std::size_t i = 0; i < m_tiles.size(); ++i)
        m_tiles[i]->showError(m_errors.of(m_tiles[i]->key()), m_errors.runs);
    const auto share = [this](const char* key) {
        const FigureError* error = m_errors.of(QLatin1String(key));
        return error ? error->median : 0;
    };
    m_tradeOff->setErrors(share("arena_peak_bytes"), share("decode_ms_per_token"));
    m_errorHint->setText(
        m_errors.runs > 0
            ? tr("\u00b1 is the median error in %1 runs on this board that the prediction had not "
                 "seen.")
                  .arg(m_errors.runs)
            : tr("No validation yet:\nshardscope validate --board %1")
                  .arg(boardName(m_whatIf->board())));
    m_errorHint->setVisible(m_whatIf->isReady());
}

} // namespace shardscope::ui
