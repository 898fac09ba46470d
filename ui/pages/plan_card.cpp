// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan_card.h"

#include <QEvent>
#include <QScrollBar>

#include "ui/kit/chrome.h"
#include "ui/models/figures.h"
#include "ui/models/plan_story.h"

namespace shardscope::ui {
namespace {

constexpr int kRestMs = 80;
constexpr qsizetype kMostDetails = 200; ///< lines of one decision; `shardscope plan --json` has all

QString muted(const QString& text) {
    return QStringLiteral("<span style='color:%1'>%2</span>").arg(chrome().muted.name(), text);
}

QString heading(const QString& text) {
    return QStringLiteral("<p style='margin:12px 0 4px 0; font-weight:600'>%1</p>").arg(text);
}

QString factTable(const std::vector<PlanFact>& facts) {
    QString html = QStringLiteral("<table width='100%' cellpadding='0' cellspacing='0'>");
    for (const PlanFact& fact : facts)
        html += QStringLiteral("<tr><td width='32%' style='padding:1px 6px 1px 0'>%1</td>"
                               "<td style='padding:1px 0'>%2</td></tr>")
                    .arg(
                        muted(fact.name.toHtmlEscaped()),
                        fact.value.toHtmlEscaped().replace(u'\n', QStringLiteral("<br>")));
    return html + QStringLiteral("</table>");
}

QString detailTable(const QStringList& details) {
    QString html = QStringLiteral("<table width='100%' cellpadding='0' cellspacing='0'>");
    for (const QString& line : details.first(std::min(details.size(), kMostDetails)))
        html += QStringLiteral("<tr><td style='padding-left:10px'>%1</td>"
                               "<td align='right'>%2</td></tr>")
                    .arg(
                        muted(line.section(u'\t', 0, 0).toHtmlEscaped()),
                        muted(line.section(u'\t', 1).toHtmlEscaped()));
    html += QStringLiteral("</table>");
    if (details.size() > kMostDetails)
        html += muted(PlanCard::tr("and %1 more").arg(details.size() - kMostDetails));
    return html;
}

QString decisionText(const PlanDecision& decision) {
    // "streamed: does not fit ...": the word before the colon names the decision.
    const QString word = decision.reason.section(QStringLiteral(": "), 0, 0);
    const QString why = decision.reason.section(QStringLiteral(": "), 1);
    return QStringLiteral("<p style='margin:8px 0 2px 0'><b>%1</b> \u00b7 %2%3</p>")
               .arg(
                   word.toHtmlEscaped(), decision.amount.toHtmlEscaped(),
                   why.isEmpty() ? QString() : QStringLiteral("<br>") + why.toHtmlEscaped()) +
           detailTable(decision.details);
}

QString htmlOf(const PlanStory& story) {
    QString html = QStringLiteral("<p style='margin:0 0 6px 0'>%1 <code>%2</code></p>")
                       .arg(muted(PlanCard::tr("Plan")), story.hash.toHtmlEscaped());
    html += factTable(story.inputs);
    html += heading(PlanCard::tr("Settled by the planner")) + factTable(story.settled);
    html += heading(PlanCard::tr("Memory")) + factTable(story.memory);
    html += heading(PlanCard::tr("Why each shard is loaded"));
    for (const PlanDecision& decision : story.loads)
        html += decisionText(decision);
    if (!story.evictions.empty())
        html += heading(PlanCard::tr("What leaves while a token is decoded"));
    for (const PlanDecision& decision : story.evictions)
        html += decisionText(decision);
    return html;
}

} // namespace

PlanCard::PlanCard(app::WhatIf* whatIf, QWidget* parent) : QTextBrowser(parent), m_whatIf(whatIf) {
    setObjectName(QStringLiteral("whatif.plan"));
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    document()->setDocumentMargin(14);
    m_rest.setSingleShot(true);
    m_rest.setInterval(kRestMs);
    connect(&m_rest, &QTimer::timeout, this, &PlanCard::write);
    connect(m_whatIf, &app::WhatIf::predictionChanged, this, &PlanCard::soon);
}

void PlanCard::soon() {
    m_stale = true;
    if (isVisible())
        m_rest.start();
}

void PlanCard::showEvent(QShowEvent* event) {
    QTextBrowser::showEvent(event);
    if (m_stale)
        write();
}

void PlanCard::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    // The text has colours of the theme in it.
    if (event->type() == QEvent::StyleChange || event->type() == QEvent::PaletteChange)
        soon();
}

void PlanCard::write() {
    m_stale = false;
    const app::Prediction& now = m_whatIf->prediction();
    const int at = verticalScrollBar()->value();
    if (now.plan)
        setHtml(htmlOf(planStory(*now.plan, now.config, m_whatIf->board())));
    else if (now.infeasible)
        setHtml(QStringLiteral("<p><b>%1</b></p><p>%2</p>")
                    .arg(
                        tr("There is no plan: these settings do not fit."),
                        flagsText(now.infeasible->nearest).toHtmlEscaped()));
    else if (now.error)
        setHtml(QStringLiteral("<p>%1</p>")
                    .arg(QString::fromStdString(now.error->line()).toHtmlEscaped()));
    else
        setHtml(muted(tr("Open a run or choose a model: its plan is told here.")));
    verticalScrollBar()->setValue(at);
}

} // namespace shardscope::ui
