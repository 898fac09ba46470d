// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPushButton>

class QVBoxLayout;

namespace shardscope::ui {

/// A card that can be pressed: a push button whose content is a layout of labels.
class TileButton : public QPushButton {
    Q_OBJECT
public:
    explicit TileButton(QWidget* parent = nullptr);
    QVBoxLayout* content() const { return m_content; }
    /// Adds a widget that lets clicks through.
    void add(QWidget* widget);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override;
    int heightForWidth(int width) const override;

private:
    QVBoxLayout* m_content;
};

} // namespace shardscope::ui
