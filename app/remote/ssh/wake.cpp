// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/wake.h"

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace shardscope::app {

Wake::Wake() : m_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Wake::~Wake() {
    ::close(m_descriptor);
}

void Wake::ring() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(m_descriptor, &one, sizeof one);
}

void Wake::clear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(m_descriptor, &count, sizeof count);
}

void Wake::cancel() {
    m_cancelled.store(true);
    ring();
}

} // namespace shardscope::app
