// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "app/store/run_record.h"
#include "ui/models/figures.h"

namespace shardscope::ui {

/// Two runs, row by row: figures of their results, then the knobs in which they differ.
class CompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, First, Second, Change, ColumnCount };
    enum Role { VerdictRole = Qt::UserRole + 1, SectionRole };

    explicit CompareModel(QObject* parent = nullptr);
    /// Null results give rows without values.
    void setRuns(const app::RunRecord* first, const app::RunRecord* second);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString name, first, second, change;
        int verdict = 0;
        bool section = false;
    };
    std::vector<Row> m_rows;
};

/// The figures of a stored result document, as in DESIGN's JSON; missing keys are 0.
analyze::Summary summaryOfResult(const nlohmann::ordered_json& result);

} // namespace shardscope::ui
