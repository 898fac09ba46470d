// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/playback.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace shardscope::app {

using base::Nanos;

namespace {

Nanos steadyNow() {
    return Nanos(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

} // namespace

Playback::Playback(QObject* parent, Clock clock)
    : QObject(parent), m_clock(clock ? std::move(clock) : Clock(steadyNow)) {
    m_timer.setInterval(std::chrono::milliseconds(16));
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &Playback::tick);
}

void Playback::setTrace(const trace::Trace* trace) {
    pause();
    m_moments.clear();
    m_duration = {};
    if (trace) {
        m_moments.reserve(trace->events.size());
        for (const trace::Event& e : trace->events)
            if (e.kind != trace::EventKind::Counter) // samples are no steps of the run
                m_moments.push_back(e.start().value);
        std::sort(m_moments.begin(), m_moments.end());
        m_moments.erase(std::unique(m_moments.begin(), m_moments.end()), m_moments.end());
        m_duration = trace->duration();
    }
    emit durationChanged();
    m_position = {};
    emit positionChanged(m_position);
}

void Playback::play() {
    if (isPlaying() || isEmpty())
        return;
    if (isAtEnd())
        moveTo(Nanos(0));
    m_lastTick = m_clock();
    m_timer.start();
    emit playingChanged(true);
}

void Playback::pause() {
    if (!isPlaying())
        return;
    m_timer.stop();
    emit playingChanged(false);
}

void Playback::setSpeed(double speed) {
    const double allowed = std::clamp(speed, 0.01, 100.0);
    if (allowed == m_speed)
        return;
    if (isPlaying())
        tick(); // what has passed, passed at the old speed
    m_speed = allowed;
    emit speedChanged(m_speed);
}

void Playback::seek(Nanos position) {
    m_lastTick = m_clock();
    moveTo(position);
}

void Playback::step(int events) {
    pause();
    if (isEmpty())
        return;
    auto at = std::lower_bound(m_moments.begin(), m_moments.end(), m_position.value);
    if (events > 0) {
        if (at != m_moments.end() && *at == m_position.value)
            ++at;
        moveTo(at == m_moments.end() ? m_duration : Nanos(*at));
    } else if (events < 0) {
        moveTo(at == m_moments.begin() ? Nanos(0) : Nanos(*(at - 1)));
    }
}

void Playback::tick() {
    const Nanos now = m_clock();
    const double passed = (now - m_lastTick).real() * m_speed;
    m_lastTick = now;
    moveTo(m_position + Nanos(static_cast<std::int64_t>(passed)));
    if (isAtEnd())
        pause();
}

void Playback::moveTo(Nanos position) {
    const Nanos allowed = std::clamp(position, Nanos(0), m_duration);
    if (allowed == m_position)
        return;
    m_position = allowed;
    emit positionChanged(m_position);
}

} // namespace shardscope::app
