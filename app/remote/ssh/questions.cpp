// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/questions.h"

#include <chrono>
#include <utility>

namespace shardscope::app {

std::optional<QStringList> QuestionBox::ask(const SshQuestion& question, Wake& wake) {
    if (!canAsk())
        return {};
    std::unique_lock lock(m_lock);
    const quint64 number = ++m_number;
    m_open = true;
    m_texts.reset();
    QMetaObject::invokeMethod(
        this, [this, number, question] { emit asked(number, question); }, Qt::QueuedConnection);
    // Cancelling rings a descriptor, not this condition: look at it a few times a second.
    while (m_open && !wake.isCancelled())
        m_settled.wait_for(lock, std::chrono::milliseconds(50));
    m_open = false;
    return std::exchange(m_texts, std::nullopt);
}

void QuestionBox::settle(quint64 number, std::optional<QStringList> texts) {
    {
        const std::lock_guard lock(m_lock);
        if (!m_open || number != m_number)
            return;
        m_open = false;
        m_texts = std::move(texts);
    }
    m_settled.notify_all();
}

void QuestionBox::answer(quint64 number, const QStringList& texts) {
    settle(number, texts);
}

void QuestionBox::refuse(quint64 number) {
    settle(number, {});
}

} // namespace shardscope::app
