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
    /// "± 4 %" beside the value; null: not known.
    void showError(const FigureError* error, int runs);
    /// The figure's name alone.
    void showNothing(const Figure& figure);
    const QString& key() const { return m_key; }

private:
    QLabel* m_name;
    QLabel* m_value;
    QLabel* m_error;
    QLabel* m_change;
    QString m_key, m_help;
};

} // namespace shardscope::ui
