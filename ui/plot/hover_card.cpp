// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/hover_card.h"

#include <algorithm>

#include <QFontMetrics>
#include <QPainter>

namespace shardscope::ui {

namespace {

constexpr int kPadding = 7;
constexpr int kDistance = 14;
constexpr int kWidest = 360;
constexpr int kWrap = Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop;

} // namespace

HoverCard* HoverCard::of(QWidget* widget) {
    QWidget* window = widget->window();
    auto* card = window->findChild<HoverCard*>(QString(), Qt::FindDirectChildrenOnly);
    return card ? card : new HoverCard(window);
}

void HoverCard::dismiss(const QWidget* widget) {
    auto* card = widget->window()->findChild<HoverCard*>(QString(), Qt::FindDirectChildrenOnly);
    if (card)
        card->hide();
}

HoverCard::HoverCard(QWidget* window) : QWidget(window) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void HoverCard::layOut(const QString& text) {
    m_lines.clear();
    int width = 0, height = 0;
    for (const QString& part : text.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
        Line line{part, font(), 0};
        line.font.setBold(m_lines.isEmpty());
        const QRect needed =
            QFontMetrics(line.font).boundingRect(QRect(0, 0, kWidest, 10000), kWrap, part);
        line.height = needed.height();
        width = std::max(width, needed.width());
        height += line.height;
        m_lines.push_back(line);
    }
    resize(width + 2 * kPadding + 2, height + 2 * kPadding);
}

void HoverCard::show(const Theme& theme, QPoint globalPosition, const QString& text) {
    m_theme = theme;
    if (text.isEmpty()) {
        hide();
        return;
    }
    layOut(text);
    const QRect room = parentWidget()->rect();
    QPoint at = parentWidget()->mapFromGlobal(globalPosition) + QPoint(kDistance, kDistance);
    if (at.x() + width() > room.right())
        at.rx() -= width() + 2 * kDistance;
    if (at.y() + height() > room.bottom())
        at.ry() -= height() + 2 * kDistance;
    move(std::max(0, at.x()), std::max(0, at.y()));
    raise();
    show();
    update();
}

void HoverCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(m_theme.axis);
    painter.setBrush(m_theme.surface);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    int y = kPadding;
    for (const Line& line : m_lines) {
        painter.setFont(line.font);
        painter.setPen(line.font.bold() ? m_theme.text : m_theme.textMuted);
        painter.drawText(QRect(kPadding, y, width() - 2 * kPadding, line.height), kWrap, line.text);
        y += line.height;
    }
}

} // namespace shardscope::ui
