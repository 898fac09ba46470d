// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/state/time_state.h"

class QHBoxLayout;
class QLabel;
class QLineEdit;

namespace shardscope::ui {

/// The notes of a run as chips, and the line in which a new one is written. Hidden while there is
/// neither.
class NotesRow : public QWidget {
    Q_OBJECT
public:
    explicit NotesRow(TimeState* time, QWidget* parent = nullptr);
    /// Opens the line for a note on the selection or the cursor; false where there is neither.
    bool beginNote();
    QLineEdit* editor() const { return m_editor; }

signals:
    /// The user wants these to be the notes.
    void notesEdited(const std::vector<shardscope::ui::TimeNote>& notes);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void commit();
    void closeEditor();

    TimeState* m_time;
    QHBoxLayout* m_chips;
    QWidget* m_entry;
    QLabel* m_about;
    QLineEdit* m_editor;
    TimeRange m_range; ///< of the note that is written
};

} // namespace shardscope::ui
