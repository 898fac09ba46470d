// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/frame_out.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace shardscope::agent {

int DescriptorSink::put(trace::FrameKind, std::string_view frame) {
    for (std::size_t done = 0; done < frame.size();) {
        const ssize_t n = ::write(m_fd, frame.data() + done, frame.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        done += static_cast<std::size_t>(n);
    }
    return 0;
}

void FrameOut::control(const nlohmann::ordered_json& document) {
    using Handler = nlohmann::ordered_json::error_handler_t;
    const std::string text = document.dump(-1, ' ', false, Handler::replace);
    const std::lock_guard lock(m_lock);
    trace::appendControl(m_buffer, m_controls++, text);
    put(trace::FrameKind::Control);
}

void FrameOut::events(std::span<const trace::Event> events) {
    const std::lock_guard lock(m_lock);
    trace::appendEvents(m_buffer, m_events, events);
    m_events += events.size();
    put(trace::FrameKind::Events);
}

void FrameOut::relay(trace::FrameKind kind, std::string_view frames) {
    const std::lock_guard lock(m_lock);
    m_buffer.append(frames);
    put(kind);
}

void FrameOut::beginRun() {
    const std::lock_guard lock(m_lock);
    m_events = 0;
}

void FrameOut::put(trace::FrameKind kind) {
    if (m_errno == 0)
        m_errno = m_sink.put(kind, m_buffer);
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
