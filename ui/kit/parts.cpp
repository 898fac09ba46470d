// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/parts.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollArea>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/kit/icon.h"

namespace shardscope::ui {

QLabel* label(const QString& text, const char* look, QWidget* parent) {
    auto* made = new QLabel(text, parent);
    if (*look)
        made->setProperty("look", QLatin1String(look));
    return made;
}

void setLook(QWidget* widget, const char* look) {
    if (widget->property("look").toString() == QLatin1String(look))
        return;
    widget->setProperty("look", QLatin1String(look));
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

QFrame* frame(const char* look, QWidget* parent) {
    auto* made = new QFrame(parent);
    made->setProperty("look", QLatin1String(look));
    return made;
}

QFrame* line(QWidget* parent) {
    return frame("line", parent);
}

QVBoxLayout* centreOn(QWidget* page, int most, int top) {
    auto* body = new QWidget;
    body->setMaximumWidth(most);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(32, top, 32, 28);
    auto* middle = new QWidget;
    auto* row = new QHBoxLayout(middle);
    row->setContentsMargins(0, 0, 0, 0);
    row->addStretch(1);
    row->addWidget(body, 1000);
    row->addStretch(1);
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setWidget(middle);
    auto* outer = new QVBoxLayout(page);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(area);
    return column;
}

QFrame* emptyCard(const QString& iconName, const QString& title, const QString& text) {
    auto* card = frame("card");
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(24, 44, 24, 44);
    column->setSpacing(6);
    column->addWidget(new IconLabel(iconName, IconTone::Muted, 40), 0, Qt::AlignHCenter);
    column->addWidget(label(title, "heading"), 0, Qt::AlignHCenter);
    column->addWidget(label(text, "muted"), 0, Qt::AlignHCenter);
    return card;
}

QPushButton* button(const QString& text, const char* look, QWidget* parent) {
    auto* made = new QPushButton(text, parent);
    if (*look)
        made->setProperty("look", QLatin1String(look));
    made->setCursor(Qt::PointingHandCursor);
    return made;
}

Banner::Banner(QWidget* parent)
    : QFrame(parent), m_icon(new IconLabel(QStringLiteral("info"), IconTone::Accent, 18)),
      m_text(new QLabel) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 8, 8, 8);
    row->setSpacing(10);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setObjectName(QStringLiteral("banner.text"));
    auto* close = new QToolButton;
    close->setIcon(icon(QStringLiteral("close"), IconTone::Muted));
    close->setToolTip(tr("Close this message"));
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    row->addWidget(close, 0, Qt::AlignTop);
    hide();
}

void Banner::showError(const QString& text) {
    show(text, "error", "warning");
}

void Banner::showNote(const QString& text) {
    show(text, "note", "info");
}

void Banner::show(const QString& text, const char* look, const char* iconName) {
    m_text->setText(text);
    const auto tone = qstrcmp(look, "error") == 0 ? IconTone::Error : IconTone::Accent;
    m_icon->show(QLatin1String(iconName), tone);
    setLook(this, look);
    setVisible(!text.isEmpty());
}

IconLabel::IconLabel(const QString& name, IconTone tone, int size, QWidget* parent)
    : QWidget(parent), m_icon(icon(name, tone)) {
    setFixedSize(size, size);
}

void IconLabel::show(const QString& name, IconTone tone) {
    m_icon = icon(name, tone);
    update();
}

void IconLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    m_icon.paint(&painter, rect());
}

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(parent) {
    setFullText(text);
}

void ElidedLabel::setFullText(const QString& text) {
    m_full = text;
    setText(text);
    setToolTip(text);
}

QSize ElidedLabel::minimumSizeHint() const {
    return {24, QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    const QRect area = contentsRect();
    painter.drawText(
        area, static_cast<int>(alignment()) | Qt::TextSingleLine,
        fontMetrics().elidedText(m_full, Qt::ElideRight, area.width()));
}

} // namespace shardscope::ui
