// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "app/replay/playback.h"
#include "ui/kit/commands.h"

class QComboBox;
class QLabel;
class QSlider;
class QToolButton;

namespace shardscope::ui {

/// Play, pause, scrub, step and speed of a replay.
class PlaybackBar : public QFrame {
    Q_OBJECT
public:
    PlaybackBar(app::Playback* playback, const ActionTable& actions, QWidget* parent = nullptr);

private:
    void showPosition();
    void showDuration();

    app::Playback* m_playback;
    QToolButton* m_play;
    QSlider* m_scrub;
    QLabel* m_time;
    QComboBox* m_speed;
};

} // namespace shardscope::ui
