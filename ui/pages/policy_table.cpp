// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/policy_table.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <cmath>

#include "ui/kit/chrome.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"

namespace shardscope::ui {
namespace {

enum Column { Policy, Token, Read, Change };

QString policyText(plan::Policy policy) {
    const std::string_view name = plan::policyName(policy);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString percentText(double share) {
    if (std::abs(share) < 0.005)
        return QStringLiteral("=");
    return QStringLiteral("%1%2 %")
        .arg(share < 0 ? QStringLiteral("\u2212") : QStringLiteral("+"))
        .arg(std::abs(share) * 100, 0, 'f', 0);
}

} // namespace

PolicyTable::PolicyTable(app::PolicyCosts* costs, app::WhatIf* whatIf, QWidget* parent)
    : QWidget(parent), m_costs(costs), m_whatIf(whatIf), m_list(new QTreeWidget),
      m_word(label({}, "small")) {
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 12);
    m_list->setObjectName(QStringLiteral("whatif.policies"));
    m_list->setColumnCount(4);
    m_list->setHeaderLabels({tr("Policy"), tr("Per token"), tr("Read"), tr("Change")});
    m_list->setRootIsDecorated(false);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_list->header()->setSectionResizeMode(Policy, QHeaderView::Stretch);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionsMovable(false);
    for (const int i : {Token, Read, Change})
        m_list->headerItem()->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
    m_list->headerItem()->setToolTip(Read, tr("Read from storage for each token"));
    m_list->setProperty("look", "roomy");
    m_list->setAccessibleName(tr("What each cache policy would cost"));
    column->addWidget(m_list, 1);
    m_word->setWordWrap(true);
    m_word->setContentsMargins(6, 0, 6, 0);
    column->addWidget(m_word);
    connect(m_costs, &app::PolicyCosts::costsChanged, this, &PolicyTable::showCosts);
    // A click or Enter takes the policy.
    const auto take = [this](QTreeWidgetItem* item) {
        plan::RunConfig config = m_whatIf->config();
        config.policy = static_cast<plan::Policy>(item->data(Policy, Qt::UserRole).toInt());
        m_whatIf->setConfig(config);
    };
    connect(m_list, &QTreeWidget::itemClicked, this, take);
    connect(m_list, &QTreeWidget::itemActivated, this, take);
    showCosts();
}

void PolicyTable::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_costs->setWanted(true);
    showCosts();
}

void PolicyTable::hideEvent(QHideEvent* event) {
    m_costs->setWanted(false);
    QWidget::hideEvent(event);
}

void PolicyTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        showCosts();
}

void PolicyTable::showCosts() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    const auto& costs = m_costs->costs();
    const plan::Policy chosen = m_whatIf->config().policy;
    const app::Prediction* now = nullptr;
    for (const app::Prediction& cost : costs)
        if (cost.config.policy == chosen && cost.plan)
            now = &cost;
    bool streams = false;
    for (const app::Prediction& cost : costs) {
        auto* item = new QTreeWidgetItem(m_list);
        item->setText(Policy, policyText(cost.config.policy));
        item->setData(Policy, Qt::UserRole, static_cast<int>(cost.config.policy));
        for (const int i : {Token, Read, Change})
            item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
        if (!cost.plan) {
            item->setText(Token, cost.infeasible ? tr("does not fit") : tr("not possible"));
            item->setForeground(Token, chrome().error);
            continue;
        }
        streams = streams || cost.plan->streamedPerToken.value > 0;
        item->setText(Token, msText(cost.summary.decodeMsPerToken));
        item->setText(Read, bytesText(cost.plan->streamedPerToken.real()));
        if (cost.config.policy == chosen) {
            QFont bold = font();
            bold.setWeight(QFont::DemiBold);
            item->setFont(Policy, bold);
            item->setText(Change, tr("chosen"));
            item->setForeground(Change, chrome().muted);
        } else if (now && now->summary.decodeMsPerToken > 0) {
            const double share = cost.summary.decodeMsPerToken / now->summary.decodeMsPerToken - 1;
            item->setText(Change, percentText(share));
            item->setForeground(
                Change, std::abs(share) < 0.005 ? chrome().muted
                        : share < 0             ? chrome().good
                                                : chrome().error);
        }
    }
    if (costs.empty())
        m_word->setText(tr("The costs appear once there is a model and a board."));
    else if (!streams)
        m_word->setText(tr("All weights fit: no policy reads anything, so they cost the same."));
    else
        m_word->setText(tr("Decoding reads its layers in a cycle. LRU drops what comes next, so "
                           "it never hits; a fixed set beside streaming slots does. Click to "
                           "take one."));
}

} // namespace shardscope::ui
