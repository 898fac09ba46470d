// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/state/theme.h"

namespace shardscope::ui {

/// A small card beside the pointer, within the window, that never takes the pointer. The first line
/// is emphasised. GUI thread only.
class HoverCard : public QWidget {
    Q_OBJECT

public:
    explicit HoverCard(QWidget* window);

    void setTheme(const Theme& theme);
    void showAt(QPoint globalPosition, const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QFont headFont() const;

    Theme m_theme;
    QStringList m_lines;
};

} // namespace shardscope::ui
