// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "ui/models/figures.h"

class QLabel;

namespace shardscope::ui {

/// One figure: name, value, and its change against a baseline in words and colour.
class FigureTile : public QFrame {
    Q_OBJECT
public:
    explicit FigureTile(QWidget* parent = nullptr);
    void showFigure(const Figure& figure, const Figure* baseline);
    void showNothing(const QString& name);

private:
    QLabel* m_name;
    QLabel* m_value;
    QLabel* m_change;
};

} // namespace shardscope::ui
