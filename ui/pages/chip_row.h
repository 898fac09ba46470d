// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/state/time_state.h"

class QHBoxLayout;

namespace shardscope::ui {

/// What restricts the views, as chips that can be taken away: filters, and a live run that is not
/// followed. Hidden while there is nothing to say.
class ChipRow : public QWidget {
    Q_OBJECT
public:
    explicit ChipRow(TimeState* time, QWidget* parent = nullptr);

private:
    void refresh();

    TimeState* m_time;
    QHBoxLayout* m_row;
};

} // namespace shardscope::ui
