// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace shardscope::app {

namespace {

// A handler may only write to a descriptor, so that is how it reaches the event loop.
std::array<int, 2> g_pipe{-1, -1};

void tell(int) {
    const char mark = 1;
    [[maybe_unused]] const ssize_t n = ::write(g_pipe[1], &mark, 1);
}

void setHandlers(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = handler == SIG_DFL ? 0 : static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

} // namespace

Interrupt::Interrupt(QObject* parent) : QObject(parent) {
    if (::pipe2(g_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        return; // then the signals keep their usual meaning
    m_notifier = new QSocketNotifier(g_pipe[0], QSocketNotifier::Read, this);
    connect(m_notifier, &QSocketNotifier::activated, this, [this] {
        m_notifier->setEnabled(false);
        emit asked();
    });
    setHandlers(tell);
}

Interrupt::~Interrupt() {
    if (!m_notifier)
        return;
    setHandlers(SIG_DFL);
    m_notifier->setEnabled(false);
    ::close(g_pipe[0]);
    ::close(g_pipe[1]);
    g_pipe = {-1, -1};
}

} // namespace shardscope::app
