// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/state/theme.h"

namespace shardscope::ui {

/// A small card beside the pointer, one a window and within it, that never takes the pointer. The
/// first line is emphasised; long lines wrap. GUI thread only.
class HoverCard : public QWidget {
    Q_OBJECT

public:
    /// The card of the window that `widget` is in.
    static HoverCard* of(QWidget* widget);

    /// Hides the card of the window that `widget` is in, if it has one.
    static void dismiss(const QWidget* widget);

    using QWidget::show;
    /// Hides where there is no text.
    void show(const Theme& theme, QPoint globalPosition, const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Line {
        QString text;
        QFont font;
        int height = 0;
    };

    explicit HoverCard(QWidget* window);
    void layOut(const QString& text);

    Theme m_theme;
    QList<Line> m_lines;
};

} // namespace shardscope::ui
