// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "ui/state/time_state.h"

class QHBoxLayout;
class QToolButton;

namespace shardscope::ui {

/// The filters of a TimeState as chips that a click removes, and "Resume" while a live run is not
/// followed. Takes no room where there is nothing to say. GUI thread only.
class TimeChips : public QWidget {
    Q_OBJECT

public:
    explicit TimeChips(TimeState* time, QWidget* parent = nullptr);

private:
    void rebuild();
    QToolButton* addChip(const QString& name, const QString& text, const QString& toolTip);

    TimeState* m_time;
    QHBoxLayout* m_row;
    std::vector<QToolButton*> m_chips;
};

} // namespace shardscope::ui
