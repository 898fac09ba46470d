// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/chip_row.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "sim_engine/base/format.h"
#include "ui/kit/icon.h"
#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

QString text(base::Nanos t) {
    return QString::fromStdString(base::timeText(t));
}

} // namespace

ChipRow::ChipRow(TimeState* time, QWidget* parent)
    : QWidget(parent), m_time(time), m_row(new QHBoxLayout(this)) {
    m_row->setContentsMargins(14, 5, 14, 5);
    m_row->setSpacing(6);
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    connect(m_time, &TimeState::filtersChanged, this, &ChipRow::refresh);
    connect(m_time, &TimeState::followChanged, this, &ChipRow::refresh);
    connect(m_time, &TimeState::runChanged, this, &ChipRow::refresh);
    refresh();
}

void ChipRow::refresh() {
    while (QLayoutItem* item = m_row->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    const auto& filters = m_time->filters();
    for (std::size_t i = 0; i < filters.size(); ++i) {
        auto* chip = button(
            tr("Only %1 \u2013 %2").arg(text(filters[i].begin), text(filters[i].end)), "chip");
        chip->setIcon(icon(QStringLiteral("close"), IconTone::Accent));
        chip->setIconSize({12, 12});
        chip->setLayoutDirection(Qt::RightToLeft);
        chip->setToolTip(tr("Remove this filter"));
        const int index = static_cast<int>(i);
        connect(chip, &QPushButton::clicked, this, [this, index] { m_time->removeFilter(index); });
        m_row->addWidget(chip);
    }
    const bool paused = m_time->isLive() && !m_time->followsLive();
    if (paused) {
        auto* chip = button(tr("Resume live view"), "chip");
        chip->setIcon(icon(QStringLiteral("play"), IconTone::Accent));
        chip->setIconSize({12, 12});
        connect(chip, &QPushButton::clicked, m_time, &TimeState::resume);
        m_row->addWidget(chip);
    }
    m_row->addStretch();
    setVisible(paused || !filters.empty());
}

} // namespace shardscope::ui
