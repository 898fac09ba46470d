// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/dump_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardscope::engine {

base::Error DumpFile::failure() const {
    return {
        base::ErrorCode::Failed, std::strerror(errno), m_path, "check the folder and its space"};
}

base::Status DumpFile::create() {
    if (!wanted())
        return {};
    // A pipe or device is written in place; so is a file that stands there, which may be a handle
    // that somebody waits on.
    struct stat info {};
    const bool exists = ::stat(m_path.c_str(), &info) == 0;
    m_temporary = exists ? std::string() : m_path + ".part";
    const std::string& name = m_temporary.empty() ? m_path : m_temporary;
    m_fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return m_fd < 0 ? base::Status(failure()) : base::Status();
}

base::Status DumpFile::write(const float* values, std::size_t count) {
    if (m_fd < 0)
        return {};
    const auto* at = reinterpret_cast<const char*>(values);
    for (std::size_t left = count * sizeof(float); left > 0;) {
        const ssize_t n = ::write(m_fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failure();
        at += n;
        left -= static_cast<std::size_t>(n);
    }
    return {};
}

base::Status DumpFile::finish() {
    if (m_fd < 0)
        return {};
    const int closed = ::close(m_fd);
    m_fd = -1;
    if (closed != 0 ||
        (!m_temporary.empty() && std::rename(m_temporary.c_str(), m_path.c_str()) != 0))
        return failure();
    m_temporary.clear();
    return {};
}

DumpFile::~DumpFile() {
    if (m_fd >= 0)
        ::close(m_fd);
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

} // namespace shardscope::engine
