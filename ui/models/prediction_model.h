// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <optional>
#include <vector>

#include "sim_engine/analyze/limits.h"
#include "sim_engine/analyze/summary.h"

namespace shardscope::ui {

/// A run and what was predicted for its settings.
struct PredictionFacts {
    analyze::Summary measured;
    std::optional<analyze::RunLimits> limits; ///< of the measured run; none for another plan's
    std::optional<analyze::Summary> predicted;
    std::optional<analyze::RunLimits> predictedLimits;
};

/// Phase by phase: measured, predicted, how far that was off, the floor that physics sets, and what
/// bounds the phase. GUI thread only.
class PredictionModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Phase, Measured, Predicted, OffBy, Floor, BoundBy, Gap, ColumnCount };

    explicit PredictionModel(QObject* parent = nullptr);
    void setFacts(const PredictionFacts& facts);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString cells[ColumnCount];
        double off = 0; ///< share by which the prediction was off; NaN where there is none
    };
    void addPhase(
        const QString& name, const analyze::Limits& measured, const analyze::Limits* predicted,
        double parts);
    void addFigure(
        const QString& name, double measured, std::optional<double> predicted,
        QString (*text)(double));

    std::vector<Row> m_rows;
};

/// "Decoding is I/O bound: its reads alone take 1.20 s of 1.31 s (9 % above the floor)."
QString boundSentence(const analyze::RunLimits& limits);
/// "I/O bound, +9 %": for a badge.
QString boundBadge(const analyze::RunLimits& limits);

} // namespace shardscope::ui
