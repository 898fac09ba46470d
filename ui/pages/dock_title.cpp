// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/dock_title.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QToolButton>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"

namespace shardscope::ui {

DockTitle::DockTitle(QDockWidget* dock) : QWidget(dock) {
    setProperty("look", "docktitle");
    setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 5, 6, 5);
    row->addWidget(label(dock->windowTitle(), "section"), 1);
    auto* close = new QToolButton;
    close->setIcon(icon(QStringLiteral("close"), IconTone::Muted));
    close->setIconSize({14, 14});
    close->setToolTip(tr("Hide this panel"));
    connect(close, &QToolButton::clicked, dock, &QDockWidget::close);
    row->addWidget(close);
}

} // namespace shardscope::ui
