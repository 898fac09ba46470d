// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/help_overlay.h"

#include <QAction>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

void addRow(QGridLayout* grid, const QString& keys, const QString& effect) {
    const int row = grid->rowCount();
    grid->addWidget(label(keys, "key"), row, 0, Qt::AlignLeft | Qt::AlignVCenter);
    grid->addWidget(label(effect), row, 1, Qt::AlignVCenter);
}

QGridLayout* gridWith(const QString& title) {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(7);
    grid->setColumnMinimumWidth(0, 108);
    grid->setColumnStretch(1, 1);
    grid->addWidget(label(title, "section"), 0, 0, 1, 2);
    return grid;
}

} // namespace

HelpOverlay::HelpOverlay(const ActionTable& actions, QWidget* window) : QWidget(window) {
    setObjectName(QStringLiteral("help"));
    setFocusPolicy(Qt::StrongFocus);
    auto* card = frame("card");
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(32, 26, 32, 28);
    inside->setSpacing(18);
    inside->addWidget(label(tr("Keys and gestures"), "title"));
    auto* halves = new QHBoxLayout;
    halves->setSpacing(48);

    auto* keys = gridWith(tr("Commands"));
    auto* places = gridWith(tr("Pages and help"));
    for (const QAction* action : actions.all()) {
        const QString id = action->objectName();
        const bool place =
            id.startsWith(QLatin1String("go.")) || id.startsWith(QLatin1String("help."));
        if (!action->shortcut().isEmpty())
            addRow(
                place ? places : keys, action->shortcut().toString(QKeySequence::NativeText),
                action->text());
    }
    auto* hands = gridWith(tr("In the charts"));
    for (const Gesture& gesture : gestures())
        addRow(hands, tr(gesture.keys), tr(gesture.effect));
    auto* left = new QVBoxLayout;
    left->addLayout(keys);
    left->addStretch();
    auto* right = new QVBoxLayout;
    right->addLayout(hands);
    right->addSpacing(18);
    right->addLayout(places);
    right->addStretch();
    halves->addLayout(left, 2);
    halves->addLayout(right, 3);
    inside->addLayout(halves);

    auto* outer = new QGridLayout(this);
    outer->addWidget(card, 1, 1);
    for (const int edge : {0, 2}) {
        outer->setRowStretch(edge, 1);
        outer->setColumnStretch(edge, 1);
    }
    window->installEventFilter(this);
    hide();
}

void HelpOverlay::popUp() {
    resize(parentWidget()->size());
    show();
    raise();
    setFocus();
}

void HelpOverlay::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), QColor(10, 14, 20, 140));
}

void HelpOverlay::mousePressEvent(QMouseEvent*) {
    hide();
}

void HelpOverlay::keyPressEvent(QKeyEvent*) {
    hide();
}

bool HelpOverlay::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && isVisible())
        resize(parentWidget()->size());
    return QWidget::eventFilter(watched, event);
}

} // namespace shardscope::ui
