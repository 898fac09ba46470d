// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/prediction_model.h"

class QLabel;
class QTableView;

namespace shardscope::ui {

/// Predicted against measured, phase by phase, and the gap to physics.
class PredictionPanel : public QWidget {
    Q_OBJECT
public:
    explicit PredictionPanel(QWidget* parent = nullptr);
    PredictionModel* model() const { return m_model; }
    void showFacts(const PredictionFacts& facts, const QString& sentence);
    /// Why there is nothing to compare.
    void showNothing(const QString& why);

private:
    PredictionModel* m_model;
    QLabel* m_sentence;
    QTableView* m_table;
};

} // namespace shardscope::ui
