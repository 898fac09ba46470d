// SPDX-License-Identifier: GPL-3.0-or-later
// The tabs below the charts: text, events, costs, the run against its prediction, log.
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <algorithm>

#include "ui/kit/parts.h"
#include "ui/pages/costs_panel.h"
#include "ui/pages/events_panel.h"
#include "ui/pages/facts_bar.h"
#include "ui/pages/prediction_panel.h"
#include "ui/pages/results_page.h"

namespace shardscope::ui {
namespace {

constexpr int kTextHeight = 112;
constexpr int kTableHeight = 250;
constexpr int kReasonWidth = 460;

QPlainTextEdit* textView(const char* name, const QString& placeholder) {
    auto* view = new QPlainTextEdit;
    view->setReadOnly(true);
    view->setObjectName(QLatin1String(name));
    view->setPlaceholderText(placeholder);
    view->document()->setDocumentMargin(12);
    view->setMaximumBlockCount(20000);
    return view;
}

} // namespace

QWidget* ResultsPage::makeTabs() {
    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("results.tabs"));
    m_transcript = textView("results.transcript", tr("The text appears here while it is heard."));
    m_events = new EventsPanel(&m_data);
    connect(m_events, &EventsPanel::failed, m_banner, &Banner::showError);
    m_prediction = new PredictionPanel;
    m_costs = new CostsPanel(&m_data);
    connect(m_costs, &CostsPanel::statusChanged, this, &ResultsPage::statusChanged);
    m_log = textView("results.log", tr("What the agent and the window had to say."));
    m_tabs->addTab(m_transcript, tr("Transcript"));
    m_tabs->addTab(m_events, tr("Events"));
    m_tabs->addTab(m_costs, tr("Costs"));
    m_tabs->addTab(m_prediction, tr("Against prediction"));
    m_tabs->addTab(m_log, tr("Log"));
    m_reason = new ElidedLabel;
    m_reason->setProperty("look", "muted");
    m_reason->setObjectName(QStringLiteral("results.reason"));
    m_reason->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_reason->setFixedSize(kReasonWidth, 30);
    m_tabs->installEventFilter(this);
    m_reason->setContentsMargins(0, 0, 14, 0);
    m_tabs->setCornerWidget(m_reason, Qt::TopRightCorner);
    m_tabs->setMinimumHeight(90);
    connect(m_tabs, &QTabWidget::currentChanged, this, &ResultsPage::giveTabsRoom);
    return m_tabs;
}

/// Tables and logs want more lines than a sentence does; a height set by hand stays.
void ResultsPage::giveTabsRoom() {
    if (m_splitByHand)
        return;
    const int wanted = m_tabs->currentWidget() == m_transcript ? kTextHeight : kTableHeight;
    const int all = m_splitter->sizes().value(0) + m_splitter->sizes().value(1);
    m_splitter->setSizes({all - wanted, wanted});
}

/// The reason beside the tabs takes what they leave.
bool ResultsPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_tabs && event->type() == QEvent::Resize)
        m_reason->setFixedWidth(std::clamp(
            m_tabs->width() - m_tabs->tabBar()->sizeHint().width() - 4, 0, kReasonWidth));
    return QMainWindow::eventFilter(watched, event);
}

/// Once a run is over: its gap to physics, and how well it was predicted. What-if may have learned
/// from the run since; here it is held against what its board was known to be when it began.
void ResultsPage::showLimits() {
    const auto* document = m_parts.document;
    const bool over =
        document->state() != app::RunState::Empty && document->state() != app::RunState::Running;
    const bool known = document->card() && document->board().readBytesPerSecond > 0;
    if (!over || !known) {
        m_facts->setBound({}, {});
        m_facts->setOwnPrediction({});
        m_compared = false;
        return m_prediction->showNothing(
            !over               ? QString()
            : !document->card() ? tr("The recording has no model card.")
                                : tr("The run knows no board profile: measure the board with "
                                     "shardscope-agent probe."));
    }
    if (m_compared)
        return; // a slider moves: the run stays what it is
    m_compared = true;
    const app::Prediction own = app::predict(
        document->card(), document->config(), document->board(), app::workloadOf(*document));
    if (!own.plan) {
        m_facts->setBound({}, {});
        return m_prediction->showNothing(tr("This version plans these settings otherwise."));
    }
    m_facts->setOwnPrediction(own.summary);
    PredictionFacts facts{document->summary(), {}, own.summary, {}};
    QString sentence;
    if (auto limits = analyze::limitsOf(document->trace(), *own.plan, document->board())) {
        facts.limits = *limits;
        sentence = boundSentence(*limits);
        m_facts->setBound(boundBadge(*limits), sentence);
        if (auto predicted = analyze::limitsOf(*own.trace, *own.plan, document->board()))
            facts.predictedLimits = *predicted;
    } else {
        m_facts->setBound({}, {});
        sentence = QString::fromStdString(limits.error().line());
    }
    m_prediction->showFacts(facts, sentence);
}

/// What a click on a load, a stall or a buffer says stays in sight beside the tabs.
void ResultsPage::showReason(const QString& text) {
    if (text.isEmpty())
        return;
    m_reason->setFullText(text);
    log(text);
}

void ResultsPage::findEvents() {
    m_tabs->setCurrentWidget(m_events);
    m_events->focusSearch();
}

void ResultsPage::showTranscript() {
    m_tabs->setCurrentWidget(m_transcript);
}

void ResultsPage::showCosts() {
    m_tabs->setCurrentWidget(m_costs);
}

void ResultsPage::showComparison() {
    m_tabs->setCurrentWidget(m_prediction);
}

void ResultsPage::noteChanges() {
    const trace::Trace& trace = m_parts.document->trace();
    for (; m_notes < trace.legend.notes.size(); ++m_notes)
        log(QString::fromStdString(trace.legend.notes[m_notes]));
    if (trace.dropped > m_dropped) {
        log(tr("%1 events were lost on the way; figures are a little low.").arg(trace.dropped));
        m_dropped = trace.dropped;
    }
}

void ResultsPage::log(const QString& text) {
    if (!text.isEmpty())
        m_log->appendPlainText(text);
}

} // namespace shardscope::ui
