// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/file_bytes.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim_engine/base/format.h"

namespace shardscope::model {

using base::Bytes;
using base::Error;
using base::ErrorCode;

FileBytes::FileBytes(std::string path, int fd, Bytes size)
    : m_path(std::move(path)), m_fd(fd), m_size(size) {}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : m_path(std::move(other.m_path)), m_fd(std::exchange(other.m_fd, -1)), m_size(other.m_size) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
    std::swap(m_path, other.m_path);
    std::swap(m_fd, other.m_fd);
    std::swap(m_size, other.m_size);
    return *this;
}

FileBytes::~FileBytes() {
    if (m_fd >= 0)
        ::close(m_fd);
}

base::Result<FileBytes> FileBytes::open(const std::string& path) {
    // Without O_NONBLOCK a named pipe would make us wait for somebody who writes to it.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return Error{ErrorCode::BadInput, std::strerror(errno), path, "check the path"};
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(fd);
        return Error{ErrorCode::BadInput, "not a regular file", path, "check the path"};
    }
    // Headers lie far apart: reading ahead would fill the page cache with weights.
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    return FileBytes(path, fd, Bytes(info.st_size));
}

base::Status FileBytes::read(Bytes offset, void* out, Bytes bytes) const {
    if (offset.value < 0 || bytes.value < 0 || offset > m_size || bytes > m_size - offset)
        return malformed(
            offset, base::formatted(
                        "the file ends at %lld, %lld bytes are expected here",
                        static_cast<long long>(m_size.value), static_cast<long long>(bytes.value)));
    auto* at = static_cast<char*>(out);
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n =
            ::pread(m_fd, at + done, bytes.size() - done, static_cast<off_t>(offset.size() + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return malformed(offset, n < 0 ? std::strerror(errno) : "the file shrank while read");
        done += static_cast<std::size_t>(n);
    }
    return {};
}

Error FileBytes::malformed(Bytes offset, std::string what) const {
    return {
        ErrorCode::BadInput, std::move(what),
        base::formatted("%s at offset %lld", m_path.c_str(), static_cast<long long>(offset.value)),
        "the file is damaged or of another kind; get it again"};
}

} // namespace shardscope::model
