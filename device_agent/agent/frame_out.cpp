// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/frame_out.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "sim_engine/trace/frame.h"

namespace shardscope::agent {

void FrameOut::control(const nlohmann::ordered_json& document) {
    using Handler = nlohmann::ordered_json::error_handler_t;
    const std::string text = document.dump(-1, ' ', false, Handler::replace);
    const std::lock_guard lock(m_lock);
    trace::appendControl(m_buffer, m_controls++, text);
    write();
}

void FrameOut::events(std::span<const trace::Event> events) {
    const std::lock_guard lock(m_lock);
    trace::appendEvents(m_buffer, m_events, events);
    m_events += events.size();
    write();
}

void FrameOut::beginRun() {
    const std::lock_guard lock(m_lock);
    m_events = 0;
}

void FrameOut::write() {
    for (std::size_t done = 0; done < m_buffer.size() && m_errno == 0;) {
        const ssize_t n = ::write(m_fd, m_buffer.data() + done, m_buffer.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            m_errno = errno;
        else
            done += static_cast<std::size_t>(n);
    }
    m_buffer.clear();
}

base::Status FrameOut::status() const {
    const std::lock_guard lock(m_lock);
    if (m_errno == 0)
        return {};
    return base::Error{
        base::ErrorCode::Failed, std::strerror(m_errno), "trace", "check the folder and its space"};
}

} // namespace shardscope::agent
