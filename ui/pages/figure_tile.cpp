// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/figure_tile.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/kit/parts.h"

namespace shardscope::ui {

FigureTile::FigureTile(QWidget* parent)
    : QFrame(parent), m_name(label({}, "small")), m_value(label({}, "figure")),
      m_change(label({}, "small")) {
    setProperty("look", "well");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 6, 8, 6);
    column->setSpacing(0);
    column->addWidget(m_name);
    column->addWidget(m_value);
    column->addWidget(m_change);
    m_change->setText(QStringLiteral(" "));
}

void FigureTile::showFigure(const Figure& figure, const Figure* baseline) {
    m_name->setText(figure.name);
    m_value->setText(figure.text());
    setToolTip(figure.help);
    const QString change = baseline ? figure.changeFrom(*baseline) : QString();
    const int verdict = baseline ? figure.verdict(*baseline) : 0;
    m_change->setText(
        !baseline          ? QStringLiteral(" ")
        : change.isEmpty() ? tr("no change")
                           : change);
    setLook(m_change, verdict < 0 ? "change-good" : verdict > 0 ? "change-bad" : "small");
}

void FigureTile::showNothing(const QString& name) {
    m_name->setText(name);
    m_value->setText(QStringLiteral("\u2013"));
    m_change->setText(QStringLiteral(" "));
    setLook(m_change, "small");
}

} // namespace shardscope::ui
