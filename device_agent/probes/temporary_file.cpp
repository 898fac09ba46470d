// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/temporary_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace shardscope::probes {

using base::Error;
using base::ErrorCode;

base::Result<TemporaryFile> TemporaryFile::create(const std::string& folder) {
    std::string path = folder + "/shardscope-probe-XXXXXX";
    const int fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0)
        return Error{
            ErrorCode::Failed,
            std::string("cannot write a temporary file: ") + std::strerror(errno), folder,
            "give --folder DIR, a folder on the storage of the models"};
    return TemporaryFile(std::move(path), fd);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : m_path(std::move(other.m_path)), m_fd(std::exchange(other.m_fd, -1)), m_size(other.m_size) {}

TemporaryFile::~TemporaryFile() {
    if (m_fd < 0)
        return;
    ::unlink(m_path.c_str());
    ::close(m_fd);
}

base::Status TemporaryFile::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n =
            ::pwrite(m_fd, bytes.data(), bytes.size(), static_cast<off_t>(m_size.value));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return Error{
                ErrorCode::Failed, n < 0 ? std::strerror(errno) : "the storage is full", m_path,
                "free some space, or give --folder DIR"};
        m_size += base::Bytes(n);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return {};
}

} // namespace shardscope::probes
