// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/figure_tile.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/kit/parts.h"

namespace shardscope::ui {

FigureTile::FigureTile(QWidget* parent)
    : QFrame(parent), m_name(label({}, "small")), m_value(label({}, "figure")),
      m_error(label({}, "small")), m_change(label({}, "small")) {
    setProperty("look", "well");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 4, 8, 4);
    column->setSpacing(0);
    column->addWidget(m_name);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(m_value);
    row->addWidget(m_error, 1, Qt::AlignBottom);
    column->addLayout(row);
    column->addWidget(m_change);
    m_change->setText(QStringLiteral(" "));
}

void FigureTile::showFigure(const Figure& figure, const Figure* baseline) {
    m_name->setText(figure.name);
    m_value->setText(figure.text());
    const QString change = baseline ? figure.changeFrom(*baseline) : QString();
    const int verdict = baseline ? figure.verdict(*baseline) : 0;
    m_change->setText(
        !baseline          ? QStringLiteral(" ")
        : change.isEmpty() ? tr("no change")
                           : change);
    setLook(m_change, verdict < 0 ? "change-good" : verdict > 0 ? "change-bad" : "small");
}

void FigureTile::showError(const FigureError* error, int runs) {
    m_error->setText(
        error ? QStringLiteral("\u00b1 %1 %")
                    .arg(error->median * 100, 0, 'f', error->median < 0.01 ? 1 : 0)
              : QString());
    setToolTip(
        error ? tr("%1\nOff by %2 % in the median and by %3 % at the 90th percentile, in %4 runs "
                   "that the prediction had not seen.")
                    .arg(m_help)
                    .arg(error->median * 100, 0, 'f', 1)
                    .arg(error->p90 * 100, 0, 'f', 1)
                    .arg(runs)
              : m_help);
}

void FigureTile::showNothing(const Figure& figure) {
    m_key = figure.key;
    m_help = figure.help;
    m_name->setText(figure.name);
    setToolTip(m_help);
    m_value->setText(QStringLiteral("\u2013"));
    m_change->setText(QStringLiteral(" "));
    setLook(m_change, "small");
}

} // namespace shardscope::ui
