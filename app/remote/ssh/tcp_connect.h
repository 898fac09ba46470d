// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <QString>

#include "app/remote/ssh/deadline.h"
#include "app/remote/ssh/wake.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// Owns a descriptor.
class Descriptor {
public:
    explicit Descriptor(int descriptor = -1) : m_descriptor(descriptor) {}
    Descriptor(Descriptor&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(m_descriptor, other.m_descriptor);
        return *this;
    }
    ~Descriptor();
    int value() const { return m_descriptor; }

private:
    int m_descriptor;
};

/// Looks `host` up and connects to the first of its addresses that answers; the socket does not
/// block and does not delay small packets. Connection error naming what failed. Worker threads.
base::Result<Descriptor>
tcpConnect(const QString& host, quint16 port, const Deadline& deadline, Wake& wake);

/// Waits until `descriptor` has one of `events`, or the wake rings: the events that came, 0 when
/// time is up or the wake rang, and below 0 where it is cancelled.
int waitFor(int descriptor, short events, int ms, Wake& wake);

} // namespace shardscope::app
