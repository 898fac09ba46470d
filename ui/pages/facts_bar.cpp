// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facts_bar.h"

#include <QDeadlineTimer>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"
#include "ui/models/runs_model.h"

namespace shardscope::ui {
namespace {

qint64 nowMs() {
    return QDeadlineTimer::current(Qt::PreciseTimer).deadline();
}

/// "1 204 events, 37.6 KiB"; what a full ring lost is told beside it.
QString recordedText(const trace::Trace& trace) {
    const auto count = static_cast<qlonglong>(trace.events.size());
    QString text = FactsBar::tr("%1 events, %2")
                       .arg(QLocale().toString(count))
                       .arg(bytesText(double(trace.events.size() * sizeof(trace::Event))));
    if (trace.dropped > 0)
        text += FactsBar::tr(", %1 lost").arg(QLocale().toString(qlonglong(trace.dropped)));
    return text;
}

QString signedPercent(double share) {
    const QString sign = share < 0 ? QStringLiteral("\u2212") : QStringLiteral("+");
    return QStringLiteral("%1%2 %").arg(sign).arg(std::abs(share) * 100, 0, 'f', 0);
}

} // namespace

FactsBar::FactsBar(app::RunDocument* document, app::WhatIf* whatIf, QWidget* parent)
    : QFrame(parent), m_document(document), m_whatIf(whatIf), m_title(new ElidedLabel),
      m_badge(label({}, "badge")), m_bound(label({}, "badge")), m_subtitle(new ElidedLabel),
      m_run(button({}, "primary")) {
    setProperty("look", "bar");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 8, 12, 9);
    column->setSpacing(5);
    auto* titleRow = new QHBoxLayout;
    titleRow->setSpacing(10);
    m_title->setProperty("look", "heading");
    m_title->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    m_subtitle->setProperty("look", "muted");
    m_subtitle->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    titleRow->addWidget(m_title);
    titleRow->addWidget(m_badge, 0, Qt::AlignVCenter);
    m_bound->setObjectName(QStringLiteral("results.boundBadge"));
    m_bound->hide();
    titleRow->addWidget(m_bound, 0, Qt::AlignVCenter);
    titleRow->addWidget(m_subtitle, 1);
    m_run->setObjectName(QStringLiteral("results.run"));
    titleRow->addWidget(m_run);
    column->addLayout(titleRow);

    m_factRow = new QHBoxLayout;
    m_factRow->setSpacing(26);
    column->addLayout(m_factRow);
    m_peak = addFact(tr("Peak RAM"), tr("Highest use of the arena, and the budget."));
    m_token = addFact(tr("Per token"), tr("Mean time of a decode step."));
    m_first = addFact(tr("First token"), tr("From the begin of the run to the first token."));
    m_stall = addFact(tr("Stall"), tr("Time in which compute waited for reads."));
    m_hidden = addFact(tr("Hidden I/O"), tr("Share of read time that no op waited for."));
    m_predicted = addFact(
        tr("Predicted"), tr("Time a token as planned for these settings, against the measured."));
    m_factRow->addStretch();

    connect(m_run, &QPushButton::clicked, this, [this] {
        if (m_document->state() == app::RunState::Running)
            emit stopClicked();
        else
            emit runClicked();
    });
    m_tick.setInterval(100);
    connect(&m_tick, &QTimer::timeout, this, &FactsBar::showRunButton);
    m_redraw.setSingleShot(true);
    m_redraw.setInterval(100);
    connect(&m_redraw, &QTimer::timeout, this, &FactsBar::refresh);
    const auto soon = [this] {
        if (!m_redraw.isActive())
            m_redraw.start();
    };
    connect(m_document, &app::RunDocument::eventsAppended, this, soon);
    connect(m_document, &app::RunDocument::stateChanged, this, &FactsBar::refresh);
    connect(m_document, &app::RunDocument::replaced, this, &FactsBar::refresh);
    connect(m_whatIf, &app::WhatIf::predictionChanged, this, soon);
    refresh();
}

void FactsBar::setBound(const QString& badge, const QString& sentence) {
    m_bound->setText(badge);
    m_bound->setToolTip(sentence);
    m_bound->setVisible(!badge.isEmpty());
}

FactsBar::Fact FactsBar::addFact(const QString& name, const QString& help) {
    auto* box = new QWidget;
    box->setToolTip(help);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    Fact fact{label(name, "small"), label(QStringLiteral("\u2013"), "figure"), label({}, "small")};
    column->addWidget(fact.name);
    auto* values = new QHBoxLayout;
    values->setSpacing(5);
    values->addWidget(fact.value);
    values->addWidget(fact.more, 0, Qt::AlignBottom);
    values->addStretch();
    column->addLayout(values);
    m_factRow->addWidget(box);
    return fact;
}

void FactsBar::refresh() {
    showTitle();
    if (m_document->state() == app::RunState::Empty)
        showPlanned();
    else
        showMeasured();
    showRunButton();
}

void FactsBar::setRunnable(bool runnable, const QString& why) {
    m_runnable = runnable;
    m_run->setToolTip(why);
    showRunButton();
}

void FactsBar::showTitle() {
    using app::RunState;
    if (m_document->state() == RunState::Empty) {
        const auto card = m_whatIf->card();
        m_title->setFullText(
            card ? shortModelName(QString::fromStdString(card->name)) : tr("No run"));
        m_subtitle->setFullText(
            card ? tr("planned for %1").arg(QString::fromStdString(m_whatIf->board().name))
                 : tr("Run the sample, or open a recording or a model."));
        m_badge->setText(tr("prediction"));
        setLook(m_badge, "badge");
        m_badge->setVisible(card != nullptr);
        return;
    }
    m_title->setFullText(shortModelName(m_document->modelName()));
    const QString audio = m_document->audioName();
    QString where = audio.isEmpty() ? tr("on %1").arg(m_document->boardName())
                                    : tr("on %1 \u00b7 %2").arg(m_document->boardName(), audio);
    if (m_document->state() == RunState::Running || m_document->trace().dropped > 0)
        where += QStringLiteral(" \u00b7 ") + recordedText(m_document->trace());
    m_subtitle->setFullText(where);
    const struct {
        RunState state;
        const char* look;
        QString text;
    } badges[] = {
        {RunState::Running, "badge-good", tr("running")},
        {RunState::Done, "badge", tr("done")},
        {RunState::Stopped, "badge-warning", tr("stopped")},
        {RunState::Failed, "badge-bad", tr("failed")},
        {RunState::Partial, "badge-warning", tr("partial")},
    };
    for (const auto& badge : badges)
        if (badge.state == m_document->state()) {
            m_badge->setText(badge.text);
            setLook(m_badge, badge.look);
        }
    m_badge->setVisible(true);
}

void FactsBar::showMeasured() {
    const analyze::Summary s = m_document->summary();
    m_peak.value->setText(bytesText(double(s.arenaPeak)));
    const auto& budget = m_document->config().budget;
    m_peak.more->setText(budget ? tr("of %1").arg(bytesText(budget->real())) : tr("no budget"));
    m_token.value->setText(s.decodeMsPerToken > 0 ? msText(s.decodeMsPerToken) : tr("\u2013"));
    m_first.value->setText(s.firstTokenMs > 0 ? msText(s.firstTokenMs) : tr("\u2013"));
    m_stall.value->setText(msText(s.stallMs));
    m_hidden.value->setText(QStringLiteral("%1 %").arg(s.hiddenFraction * 100, 0, 'f', 0));
    showPrediction();
}

void FactsBar::showPlanned() {
    const app::Prediction& p = m_whatIf->prediction();
    const QString none = QStringLiteral("\u2013");
    const bool there = p.plan != nullptr;
    m_peak.value->setText(there ? bytesText(double(p.summary.arenaPeak)) : none);
    m_peak.more->setText(
        p.config.budget ? tr("of %1").arg(bytesText(p.config.budget->real())) : QString());
    m_token.value->setText(there ? msText(p.summary.decodeMsPerToken) : none);
    m_first.value->setText(there ? msText(p.summary.firstTokenMs) : none);
    m_stall.value->setText(there ? msText(p.summary.stallMs) : none);
    m_hidden.value->setText(
        there ? QStringLiteral("%1 %").arg(p.summary.hiddenFraction * 100, 0, 'f', 0) : none);
    m_predicted.value->parentWidget()->setVisible(false);
}

void FactsBar::showPrediction() {
    const app::Prediction& p = m_whatIf->baselinePrediction();
    m_predicted.value->parentWidget()->setVisible(m_own || p.plan);
    if (!m_own && !p.plan)
        return;
    const double measured = m_document->summary().decodeMsPerToken;
    const double predicted = m_own ? m_own->decodeMsPerToken : p.summary.decodeMsPerToken;
    m_predicted.value->setText(msText(predicted));
    m_predicted.more->setText(measured > 0 ? signedPercent(predicted / measured - 1) : QString());
}

void FactsBar::setOwnPrediction(const std::optional<analyze::Summary>& summary) {
    m_own = summary;
    if (m_document->state() != app::RunState::Empty)
        showPrediction();
}

void FactsBar::showRunButton() {
    // Room for the time, so that the button keeps its width while it counts.
    m_run->setMinimumWidth(m_run->fontMetrics().horizontalAdvance(tr("Stop  000.0 s")) + 50);
    if (m_document->state() != app::RunState::Running) {
        m_tick.stop();
        m_startedAt = 0;
        m_run->setText(m_document->state() == app::RunState::Empty ? tr("Run") : tr("Run again"));
        m_run->setIcon(icon(QStringLiteral("play"), IconTone::OnAccent));
        m_run->setEnabled(m_runnable);
        setLook(m_run, "primary");
        return;
    }
    if (!m_startedAt) {
        m_startedAt = nowMs();
        m_tick.start();
    }
    m_run->setEnabled(true);
    m_run->setText(tr("Stop  %1 s").arg(double(nowMs() - m_startedAt) / 1000, 0, 'f', 1));
    m_run->setIcon(icon(QStringLiteral("stop"), IconTone::Error));
    setLook(m_run, "danger");
}

} // namespace shardscope::ui
