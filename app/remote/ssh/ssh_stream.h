// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <mutex>

#include <QByteArray>

#include "app/remote/ssh/ssh_channel.h"

namespace shardscope::app {

/// The bytes between a transport and its worker. What came in and was not fetched is bounded: a
/// slow reader holds the worker back, that the window of the channel, and that the other side.
/// Thread-safe.
class SshStream final : public ChannelUser {
public:
    /// `arrived` is called on the worker when bytes wait where none did before.
    SshStream(Wake& wake, std::function<void()> arrived)
        : m_wake(wake), m_arrived(std::move(arrived)) {}

    /// Any thread.
    void send(const QByteArray& bytes);
    /// No more is sent: the other side sees the end of its input.
    void endSending();
    /// All that came.
    QByteArray fetch();

    /// The last line on standard error, for the worker.
    const QByteArray& lastErrorLine() const { return m_lastErrorLine; }

    QByteArrayView toSend() override;
    void sent(qsizetype n) override { m_sent += n; }
    bool sendsNoMore() override;
    bool canTake() override;
    void take(QByteArrayView bytes) override;
    void takeErrors(QByteArrayView bytes) override;

private:
    Wake& m_wake;
    std::function<void()> m_arrived;
    std::mutex m_lock;
    QByteArray m_outbox, m_inbox;
    bool m_ends = false;
    bool m_holdsBack = false;
    // Of the worker alone.
    QByteArray m_sending;
    qsizetype m_sent = 0;
    QByteArray m_errorLine, m_lastErrorLine;
};

} // namespace shardscope::app
