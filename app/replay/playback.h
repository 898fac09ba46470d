// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QObject>
#include <QTimer>

#include "sim_engine/base/units.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::app {

/// The replay cursor over a finished run. GUI thread only.
class Playback : public QObject {
    Q_OBJECT
public:
    /// Monotonic time; another one in tests.
    using Clock = std::function<base::Nanos()>;

    explicit Playback(QObject* parent = nullptr, Clock clock = {});

    /// Replays this run from its begin, paused; null for none. The trace must outlive its use here.
    void setTrace(const trace::Trace* trace);
    bool isEmpty() const { return m_moments.empty(); }

    base::Nanos position() const { return m_position; }
    base::Nanos duration() const { return m_duration; }
    bool isPlaying() const { return m_timer.isActive(); }
    bool isAtEnd() const { return m_position >= m_duration; }
    /// 1 = as fast as it was; 0.01 .. 100.
    double speed() const { return m_speed; }

    /// Plays on; from the begin when it stands at the end.
    void play();
    void pause();
    void toggle() { isPlaying() ? pause() : play(); }
    void setSpeed(double speed);
    /// Moves there, within the run; playing goes on from there.
    void seek(base::Nanos position);
    /// Pauses and moves to the next (+1) or previous (-1) moment at which an event began.
    void step(int events);
    /// Moves on by the time that has passed; called by the timer.
    void tick();

signals:
    void positionChanged(shardscope::base::Nanos position);
    void playingChanged(bool playing);
    void speedChanged(double speed);
    void durationChanged();

private:
    void moveTo(base::Nanos position);

    Clock m_clock;
    QTimer m_timer;
    std::vector<std::int64_t> m_moments; ///< distinct starts of events, ascending
    base::Nanos m_position, m_duration;
    base::Nanos m_lastTick;
    double m_speed = 1;
};

} // namespace shardscope::app
