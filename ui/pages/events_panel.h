// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/models/events_model.h"
#include "ui/state/run_data.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace shardscope::ui {

/// The events of the run as a table: search, kind, sort, copy; follows the time filter of the
/// views.
class EventsPanel : public QWidget {
    Q_OBJECT
public:
    explicit EventsPanel(RunData* data, QWidget* parent = nullptr);
    EventsModel* model() const { return m_model; }
    void focusSearch();
    void eventsAppended();

signals:
    void failed(const QString& line);

private:
    QWidget* makeTools();
    void makeTable();
    void applyFilter();
    void showCount();
    void saveCsv();

    RunData* m_data;
    EventsModel* m_model;
    QLineEdit* m_search;
    QComboBox* m_kind;
    QLabel* m_count;
    QTableView* m_table;
    QTimer m_append;
    QTimer m_typing;
};

} // namespace shardscope::ui
