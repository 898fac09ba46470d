// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/hover_card.h"

#include <algorithm>

#include <QFontMetrics>
#include <QPainter>

namespace shardscope::ui {

namespace {

constexpr int kPadding = 7;
constexpr int kDistance = 14;
constexpr int kWidest = 420;

} // namespace

HoverCard::HoverCard(QWidget* window) : QWidget(window) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

QFont HoverCard::headFont() const {
    QFont f = font();
    f.setBold(true);
    return f;
}

void HoverCard::setTheme(const Theme& theme) {
    m_theme = theme;
    update();
}

void HoverCard::showAt(QPoint globalPosition, const QString& text) {
    m_lines = text.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    if (m_lines.isEmpty()) {
        hide();
        return;
    }
    const QFontMetrics plain(font()), bold(headFont());
    int width = 0;
    for (qsizetype i = 0; i < m_lines.size(); ++i)
        width = std::max(width, (i == 0 ? bold : plain).horizontalAdvance(m_lines[i]));
    width = std::min(width, kWidest) + 2 * kPadding;
    const int lines = static_cast<int>(m_lines.size());
    resize(width, lines * plain.lineSpacing() + 2 * kPadding);

    const QRect room = parentWidget()->rect();
    QPoint at = parentWidget()->mapFromGlobal(globalPosition) + QPoint(kDistance, kDistance);
    if (at.x() + this->width() > room.right())
        at.rx() -= this->width() + 2 * kDistance;
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
    const QFontMetrics plain(font());
    int y = kPadding;
    for (qsizetype i = 0; i < m_lines.size(); ++i) {
        painter.setFont(i == 0 ? headFont() : font());
        painter.setPen(i == 0 ? m_theme.text : m_theme.textMuted);
        const QRect line(kPadding, y, width() - 2 * kPadding, plain.lineSpacing());
        painter.drawText(
            line, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(m_lines[i], Qt::ElideRight, line.width()));
        y += plain.lineSpacing();
    }
}

} // namespace shardscope::ui
