// SPDX-License-Identifier: GPL-3.0-or-later
// One clock for all drawing: however often views are told to change, they draw once a frame.
#pragma once

#include <functional>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>

namespace shardscope::ui {

/// GUI thread only.
class FrameScheduler : public QObject {
    Q_OBJECT

public:
    static constexpr int kFrameMs = 16;

    explicit FrameScheduler(QObject* parent = nullptr);

    /// Calls `draw` at the next frame; asking again before that changes nothing. A destroyed
    /// `client` is forgotten.
    void request(QObject* client, std::function<void()> draw);
    /// Draws what is asked for now (for snapshots and tests).
    void flush();

    /// Something is asked for that no frame has drawn yet.
    bool isPending() const { return !m_wanted.empty(); }

    /// Milliseconds that the last frame took.
    double lastFrameMs() const { return m_lastFrameMs; }

private:
    struct Wanted {
        QPointer<QObject> client;
        std::function<void()> draw;
    };
    QTimer m_timer;
    QElapsedTimer m_sinceFrame;
    std::vector<Wanted> m_wanted;
    double m_lastFrameMs = 0;
};

} // namespace shardscope::ui
