// SPDX-License-Identifier: GPL-3.0-or-later
// The figures that pages show of a run, measured or predicted, and how two of them differ.
#pragma once

#include <QString>
#include <map>
#include <string>
#include <vector>

#include "sim_engine/analyze/summary.h"

namespace shardscope::ui {

/// How well a figure was predicted in runs that the prediction had not seen: shares of the value.
struct FigureError {
    double median = 0;
    double p90 = 0;
};

/// What validation has shown for a board; empty where nobody has validated it.
struct PredictionErrors {
    int runs = 0;
    std::map<QString, FigureError> figures; ///< by Figure::key

    /// Null where this figure was not validated.
    const FigureError* of(const QString& key) const;
};

struct Figure {
    QString key; ///< as in the document that `run` and `simulate` print
    QString name;
    QString help;
    enum class Unit { Bytes, Ms, Percent } unit = Unit::Ms;
    double value = 0;
    bool lessIsBetter = true;

    QString text() const;
    /// "-3.2 MiB (-13 %)"; empty where the two are equal as shown.
    QString changeFrom(const Figure& baseline) const;
    /// -1 better, 0 equal, 1 worse.
    int verdict(const Figure& baseline) const;
};

/// "12.3 ms", "1.24 s".
QString msText(double ms);
QString bytesText(double bytes);

/// A planner's sentence about flags, in lines, so that no flag is broken over two of them.
QString flagsText(const std::string& sentence);

/// Peak, first token, ms a token, total, bytes a token, stall.
std::vector<Figure> whatIfFigures(const analyze::Summary& summary, std::int64_t streamedPerToken);

/// All figures of a summary, for tables.
std::vector<Figure> allFigures(const analyze::Summary& summary);

} // namespace shardscope::ui
