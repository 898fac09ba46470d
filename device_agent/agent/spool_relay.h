// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "device_agent/agent/frame_out.h"
#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::agent {

/// Hands a spooled run over, from a place in its stream to its end, while it grows: a thread of its
/// own, for the link may stall. Where the run's process dies without a last word, the relay says
/// it.
class SpoolRelay {
public:
    /// BadInput where there is no such file, Usage where it is shorter than `from`. `out` must
    /// outlive the relay.
    static base::Result<std::unique_ptr<SpoolRelay>>
    open(const std::string& path, base::Bytes from, FrameOut& out);
    /// The first frame follows.
    void start();
    /// Ends the relay, not the run.
    ~SpoolRelay();
    SpoolRelay(const SpoolRelay&) = delete;
    SpoolRelay& operator=(const SpoolRelay&) = delete;

    /// Asks the run's process to end it.
    void stopRun() const;
    bool isAlive() const;
    bool isOver() const { return m_over.load(); }

private:
    SpoolRelay(int fd, base::Bytes from, FrameOut& out) : m_fd(fd), m_at(from), m_out(out) {}
    void loop();
    /// Hands over the whole frames that stand after m_at; false where there were none.
    bool handOver();

    int m_fd;
    base::Bytes m_at;
    FrameOut& m_out;
    std::string m_buffer;
    bool m_hasResult = false;
    std::atomic<bool> m_quit{false}, m_over{false};
    std::thread m_thread;
};

} // namespace shardscope::agent
