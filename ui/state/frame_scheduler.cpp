// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/state/frame_scheduler.h"

#include <algorithm>
#include <utility>

namespace shardscope::ui {

FrameScheduler::FrameScheduler(QObject* parent) : QObject(parent) {
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &FrameScheduler::flush);
}

void FrameScheduler::request(QObject* client, std::function<void()> draw) {
    const auto same = [client](const Wanted& w) { return w.client == client; };
    if (std::none_of(m_wanted.begin(), m_wanted.end(), same))
        m_wanted.push_back({client, std::move(draw)});
    if (m_timer.isActive())
        return;
    // The first change after a pause is drawn at once, those of a burst a frame apart.
    const qint64 since = m_sinceFrame.isValid() ? m_sinceFrame.elapsed() : kFrameMs;
    m_timer.start(static_cast<int>(std::max<qint64>(0, kFrameMs - since)));
}

void FrameScheduler::flush() {
    m_timer.stop();
    m_sinceFrame.start();
    for (const Wanted& wanted : std::exchange(m_wanted, {}))
        if (wanted.client)
            wanted.draw();
    m_lastFrameMs = static_cast<double>(m_sinceFrame.nsecsElapsed()) * 1e-6;
}

} // namespace shardscope::ui
