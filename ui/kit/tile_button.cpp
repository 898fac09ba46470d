// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/tile_button.h"

#include <QVBoxLayout>

namespace shardscope::ui {

TileButton::TileButton(QWidget* parent) : QPushButton(parent), m_content(new QVBoxLayout(this)) {
    setProperty("look", "tile");
    setCursor(Qt::PointingHandCursor);
    m_content->setContentsMargins(16, 14, 16, 14);
    m_content->setSpacing(3);
}

void TileButton::add(QWidget* widget) {
    widget->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_content->addWidget(widget);
}

QSize TileButton::sizeHint() const {
    return m_content->sizeHint();
}

QSize TileButton::minimumSizeHint() const {
    return m_content->minimumSize();
}

bool TileButton::hasHeightForWidth() const {
    return m_content->hasHeightForWidth();
}

int TileButton::heightForWidth(int width) const {
    return m_content->totalHeightForWidth(width);
}

} // namespace shardscope::ui
