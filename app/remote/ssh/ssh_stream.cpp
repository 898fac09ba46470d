// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_stream.h"

#include <utility>

namespace shardscope::app {

namespace {

constexpr qsizetype kMostWaiting = 4 << 20;
constexpr qsizetype kLongestLine = 400;

} // namespace

void SshStream::send(const QByteArray& bytes) {
    {
        const std::lock_guard lock(m_lock);
        if (m_ends)
            return;
        m_outbox += bytes;
    }
    m_wake.ring();
}

void SshStream::endSending() {
    {
        const std::lock_guard lock(m_lock);
        m_ends = true;
    }
    m_wake.ring();
}

QByteArray SshStream::fetch() {
    QByteArray bytes;
    bool wasHeldBack = false;
    {
        const std::lock_guard lock(m_lock);
        bytes = std::exchange(m_inbox, {});
        wasHeldBack = std::exchange(m_holdsBack, false);
    }
    if (wasHeldBack)
        m_wake.ring();
    return bytes;
}

QByteArrayView SshStream::toSend() {
    if (m_sent == m_sending.size()) {
        const std::lock_guard lock(m_lock);
        m_sending = std::exchange(m_outbox, {});
        m_sent = 0;
    }
    return QByteArrayView(m_sending).sliced(m_sent);
}

bool SshStream::sendsNoMore() {
    const std::lock_guard lock(m_lock);
    return m_ends && m_outbox.isEmpty();
}

bool SshStream::canTake() {
    const std::lock_guard lock(m_lock);
    m_holdsBack = m_inbox.size() >= kMostWaiting;
    return !m_holdsBack;
}

void SshStream::take(QByteArrayView bytes) {
    bool first = false;
    {
        const std::lock_guard lock(m_lock);
        first = m_inbox.isEmpty();
        m_inbox.append(bytes);
    }
    if (first)
        m_arrived();
}

void SshStream::takeErrors(QByteArrayView bytes) {
    for (const char c : bytes) {
        if (c != '\n') {
            if (m_errorLine.size() < kLongestLine)
                m_errorLine += c;
            continue;
        }
        if (QByteArray line = std::exchange(m_errorLine, {}).trimmed(); !line.isEmpty())
            m_lastErrorLine = std::move(line);
    }
}

} // namespace shardscope::app
