// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/trade_off_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "sim_engine/plan/knobs.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"
#include "ui/plot/pareto_chart.h"

namespace shardscope::ui {
namespace {

std::optional<ParetoPoint> pointOf(const app::Prediction& prediction) {
    if (!prediction.plan)
        return std::nullopt;
    return ParetoPoint{prediction.plan->peak.real(), prediction.summary.decodeMsPerToken};
}

/// The flags in which `config` differs from `from`.
QString flagsOf(const plan::RunConfig& config, const plan::RunConfig& from) {
    QStringList flags;
    for (const plan::Knob& knob : plan::knobs())
        if (const std::string value = knob.print(config); value != knob.print(from))
            flags.append(QString::fromStdString(std::string(knob.flag) + " " + value));
    return flags.join(u' ');
}

} // namespace

TradeOffPanel::TradeOffPanel(app::TuneJob* tune, app::WhatIf* whatIf, QWidget* parent)
    : QWidget(parent), m_tune(tune), m_whatIf(whatIf), m_chart(new ParetoChart) {
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 10, 14, 12);
    column->setSpacing(8);
    column->addWidget(makeTools());
    column->addWidget(m_chart, 1);
    m_word = label({}, "small");
    m_word->setObjectName(QStringLiteral("whatif.point"));
    m_word->setWordWrap(true);
    m_word->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_word->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_word->setMinimumHeight(3 * m_word->fontMetrics().height());
    column->addWidget(m_word);
    m_chart->setHint(tr("Find best settings searches all knobs: each point is one that no other "
                        "beats in memory and time. A click sets the knobs."));
    connect(m_chart, &ParetoChart::pointMarked, this, &TradeOffPanel::showPoint);
    connect(m_chart, &ParetoChart::pointChosen, this, &TradeOffPanel::take);
    connect(m_tune, &app::TuneJob::frontChanged, this, &TradeOffPanel::showFront);
    connect(m_tune, &app::TuneJob::finished, this, &TradeOffPanel::showFront);
    connect(m_tune, &app::TuneJob::finished, this, &TradeOffPanel::showRunning);
    connect(m_tune, &app::TuneJob::progressChanged, this, [this](double share) {
        m_progress->setValue(static_cast<int>(share * 100));
    });
    connect(m_whatIf, &app::WhatIf::predictionChanged, this, &TradeOffPanel::showPrediction);
    connect(m_whatIf, &app::WhatIf::baselineChanged, this, &TradeOffPanel::forget);
    showRunning();
    showPrediction();
}

QWidget* TradeOffPanel::makeTools() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    m_search = button(tr("Find best settings"));
    m_search->setObjectName(QStringLiteral("whatif.search"));
    m_accuracy = new QComboBox;
    m_accuracy->setObjectName(QStringLiteral("whatif.accuracy"));
    m_accuracy->setAccessibleName(tr("How far results may move"));
    m_accuracy->setToolTip(tr("How far the settings may move the text away from full precision:\n"
                              "exact keeps f16 and shared, near adds q8, lossy adds q4 and half "
                              "of the audio positions."));
    m_accuracy->addItem(tr("exact"), static_cast<int>(analyze::Accuracy::Exact));
    m_accuracy->addItem(tr("near"), static_cast<int>(analyze::Accuracy::Near));
    m_accuracy->addItem(tr("lossy"), static_cast<int>(analyze::Accuracy::Lossy));
    m_accuracy->setCurrentIndex(1);
    row->addWidget(m_search, 1);
    row->addWidget(m_accuracy);
    column->addLayout(row);
    m_progress = new QProgressBar;
    m_progress->setRange(0, 100);
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(4);
    QSizePolicy keeps = m_progress->sizePolicy();
    keeps.setRetainSizeWhenHidden(true); // or the chart would jump
    m_progress->setSizePolicy(keeps);
    column->addWidget(m_progress);
    connect(m_search, &QPushButton::clicked, this, &TradeOffPanel::search);
    return box;
}

void TradeOffPanel::search() {
    if (m_tune->isRunning()) {
        m_tune->cancel();
        return showRunning();
    }
    if (!m_whatIf->isReady())
        return;
    analyze::TuneQuestion question;
    // Settings that a point of the last search has set say nothing new about what is allowed.
    const auto& front = m_tune->result().front;
    const bool isPoint = std::any_of(front.begin(), front.end(), [this](const auto& point) {
        return point.config == m_whatIf->config();
    });
    if (m_chart->front().empty() || !isPoint)
        m_start = m_whatIf->config();
    question.start = m_start;
    question.accuracy = static_cast<analyze::Accuracy>(m_accuracy->currentData().toInt());
    question.windows = m_whatIf->workload().windows;
    m_progress->setValue(0);
    m_tune->start(m_whatIf->card(), m_whatIf->board(), question, m_whatIf->workload());
    showRunning();
}

void TradeOffPanel::showRunning() {
    const bool running = m_tune->isRunning();
    m_search->setText(running ? tr("Stop the search") : tr("Find best settings"));
    m_search->setEnabled(m_whatIf->isReady());
    m_progress->setVisible(running);
    showPoint(m_chart->marked());
}

void TradeOffPanel::showFront() {
    std::vector<ParetoPoint> points;
    for (const analyze::TunePoint& point : m_tune->result().front)
        points.push_back({point.figures.peak.real(), point.figures.msPerToken});
    m_chart->setFront(std::move(points));
    showPrediction();
    showPoint(m_chart->marked());
}

void TradeOffPanel::showPrediction() {
    m_chart->setCurrent(pointOf(m_whatIf->prediction()));
    m_chart->setBaseline(pointOf(m_whatIf->baselinePrediction()));
    const auto& budget = (m_chart->front().empty() ? m_whatIf->config() : m_start).budget;
    m_chart->setLimit(
        budget ? budget->real()
               : (m_whatIf->board().ramTotal - m_whatIf->board().ramReserved).real());
}

/// Another model or board: what was found does not hold for it.
void TradeOffPanel::forget() {
    m_tune->cancel();
    m_chart->setFront({});
    showRunning();
}

void TradeOffPanel::showPoint(int index) {
    const auto& result = m_tune->result();
    if (m_chart->front().empty()) {
        m_word->setText(QString());
        return;
    }
    if (index < 0 || static_cast<std::size_t>(index) >= result.front.size()) {
        const QString tried = tr("%1 settings tried, %2 of them unbeaten.")
                                  .arg(result.tried)
                                  .arg(result.front.size());
        m_word->setText(
            tried + QLatin1Char(' ') +
            tr("Ring: as set now. Square: the baseline. Click a point, or use the arrow keys and "
               "Enter."));
        return;
    }
    const analyze::TunePoint& point = result.front[static_cast<std::size_t>(index)];
    QString text = QStringLiteral("<b>%1, %2</b><br>%3")
                       .arg(
                           bytesText(point.figures.peak.real()), msText(point.figures.msPerToken),
                           flagsOf(point.config, m_whatIf->baseline()).toHtmlEscaped());
    for (const std::string& why : point.why)
        text += QStringLiteral("<br>\u00b7 ") + QString::fromStdString(why).toHtmlEscaped();
    m_word->setText(text);
}

void TradeOffPanel::take(int index) {
    const auto& front = m_tune->result().front;
    if (index >= 0 && static_cast<std::size_t>(index) < front.size())
        m_whatIf->setConfig(front[static_cast<std::size_t>(index)].config);
}

void TradeOffPanel::setTheme(const Theme& theme) {
    m_chart->setTheme(theme);
}

void TradeOffPanel::setErrors(double peakShare, double tokenShare) {
    m_chart->setErrors(peakShare, tokenShare);
}

} // namespace shardscope::ui
