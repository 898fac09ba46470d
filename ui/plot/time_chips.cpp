// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/time_chips.h"

#include <QHBoxLayout>
#include <QToolButton>

#include "ui/plot/plot_text.h"

namespace shardscope::ui {

TimeChips::TimeChips(TimeState* time, QWidget* parent)
    : QWidget(parent), m_time(time), m_row(new QHBoxLayout(this)) {
    m_row->setContentsMargins(8, 2, 8, 2);
    m_row->setSpacing(6);
    m_row->addStretch();
    connect(time, &TimeState::filtersChanged, this, &TimeChips::rebuild);
    connect(time, &TimeState::followChanged, this, &TimeChips::rebuild);
    rebuild();
}

QToolButton* TimeChips::addChip(const QString& name, const QString& text, const QString& toolTip) {
    auto* chip = new QToolButton(this);
    chip->setObjectName(name);
    chip->setText(text);
    chip->setToolTip(toolTip);
    chip->setFocusPolicy(Qt::TabFocus);
    m_row->insertWidget(static_cast<int>(m_chips.size()), chip);
    m_chips.push_back(chip);
    return chip;
}

void TimeChips::rebuild() {
    for (QToolButton* chip : m_chips) {
        m_row->removeWidget(chip);
        chip->hide();
        chip->deleteLater(); // it may be the one that was clicked
    }
    m_chips.clear();
    int index = 0;
    for (const TimeRange& filter : m_time->filters()) {
        const QString span =
            momentText(filter.begin) + QStringLiteral(" \u2026 ") + momentText(filter.end);
        QToolButton* chip = addChip(
            QStringLiteral("chips.filter%1").arg(index), span + QStringLiteral("  \u2715"),
            tr("Only this range is shown. Click to remove the filter."));
        connect(chip, &QToolButton::clicked, this, [this, index] { m_time->removeFilter(index); });
        ++index;
    }
    if (m_time->isLive() && !m_time->followsLive()) {
        QToolButton* chip = addChip(
            QStringLiteral("chips.resume"), tr("Resume"), tr("Follow the running run again"));
        connect(chip, &QToolButton::clicked, m_time, &TimeState::resume);
    }
    setVisible(!m_chips.empty());
}

} // namespace shardscope::ui
