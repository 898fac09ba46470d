// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/quantize/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace shardscope::engine {

using base::Error;
using base::ErrorCode;

base::Result<OutputFile> OutputFile::create(const std::string& path) {
    const int fd = ::open((path + ".part").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return Error{ErrorCode::Failed, std::strerror(errno), path, "check the folder"};
    return OutputFile(path, fd);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : m_path(std::move(other.m_path)), m_fd(std::exchange(other.m_fd, -1)),
      m_isPending(std::exchange(other.m_isPending, false)) {}

OutputFile::~OutputFile() {
    if (m_fd >= 0)
        ::close(m_fd);
    if (m_isPending)
        ::unlink(temporary().c_str());
}

Error OutputFile::failure() const {
    return {
        ErrorCode::Failed, std::strerror(errno), m_path,
        errno == ENOSPC || errno == EDQUOT ? "free space, or write elsewhere"
                                           : "check the storage"};
}

base::Status OutputFile::write(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t n = ::write(m_fd, at, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failure();
        at += n;
        count -= static_cast<std::size_t>(n);
    }
    return {};
}

base::Status OutputFile::finish() {
    const bool synced = ::fsync(m_fd) == 0 || errno == EINVAL;
    if (!synced)
        return failure();
    if (::close(std::exchange(m_fd, -1)) != 0 ||
        std::rename(temporary().c_str(), m_path.c_str()) != 0)
        return failure();
    m_isPending = false;
    return {};
}

} // namespace shardscope::engine
